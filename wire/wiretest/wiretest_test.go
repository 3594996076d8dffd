package wiretest

import (
	"strings"
	"testing"
)

func TestLeftBehindGoroutinesAreNamed(t *testing.T) {
	stop, started := make(chan struct{}), make(chan struct{})
	go forgotten(started, stop)
	<-started
	if left := leaked(0); !strings.Contains(left, "forgotten") {
		t.Errorf("not found in %q", left)
	}
	close(stop)
}

func forgotten(started, stop chan struct{}) {
	close(started)
	<-stop
}
