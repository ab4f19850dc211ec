require 'set'
require_relative 'other'

module Store
  LIMIT = 10

  # Keeps users. Only in memory.
  class Users < Base
    attr_reader :size

    def initialize(size)
      @size = size
    end

    def self.open(path)
      new(path)
    end

    def empty? = @size.zero?
  end
end
