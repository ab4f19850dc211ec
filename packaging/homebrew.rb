# The release workflow fills this in.
class Anchord < Formula
  desc "Shared memory for coding agents"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@RELEASE@/anchord-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256_aarch64-apple-darwin@"
    end
    on_intel do
      url "@RELEASE@/anchord-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256_x86_64-apple-darwin@"
    end
  end
  on_linux do
    on_arm do
      url "@RELEASE@/anchord-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256_aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "@RELEASE@/anchord-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256_x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install Dir["bin/*"]
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/completions/anchord.bash" => "anchord"
    zsh_completion.install "share/completions/_anchord"
    fish_completion.install "share/completions/anchord.fish"
    doc.install "LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.html"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/anchord --version")
  end
end
