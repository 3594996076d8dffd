package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file with secrets that is too large is refused, not cut off.
func TestLargeSecretFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, maxSecretFile+1); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPrivate("users file", file); err == nil || !strings.HasSuffix(err.Error(), "is larger than 64MiB") {
		t.Error(err)
	}
}
