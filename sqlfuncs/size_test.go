package sqlfuncs

import (
	"testing"
	"unsafe"
)

// TestSessionSize: a Session with the allocator's header of 8 bytes fits the size
// class of 896 bytes. The next class has 1,024.
func TestSessionSize(t *testing.T) {
	if size := unsafe.Sizeof(Session{}); size > 896-8 {
		t.Errorf("a Session has %d bytes", size)
	}
}
