package store

import (
	"fmt"
	io "os"
)

// MaxSize is the most bytes.
const MaxSize = 10

// Store keeps records.
type Store struct {
	name string
}

type Reader interface {
	Read(p []byte) (int, error)
}

type ID = string
type Handler func(int) error

// Open opens a store.
func Open(name string) (*Store, error) {
	return &Store{name}, nil
}

func (s *Store) Close() error { return fmt.Errorf("x") }
