package pgtest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestNewestTakesTheHighestVersionThatHasAServer(t *testing.T) {
	root := t.TempDir()
	for _, f := range []string{"9/bin/postgres", "15/bin/postgres", "100/bin/psql"} {
		path := filepath.Join(root, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	got, err := newest(filepath.Join(root, "*/bin"))
	if want := filepath.Join(root, "15/bin"); got != want || err != nil {
		t.Errorf("newest = %q, %v, want %q", got, err, want)
	}
	if dir, err := newest(filepath.Join(root, "none/*/bin")); err == nil {
		t.Errorf("newest found %q where there is none", dir)
	}
}

func TestStartedServerAnswersAndIsGoneAfterTheTest(t *testing.T) {
	var dsn, dir string
	t.Run("running", func(t *testing.T) {
		dsn = Start(t, "max_connections=7")
		conn, err := pgx.Connect(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.WithoutCancel(t.Context()))
		var n string
		err = conn.QueryRow(t.Context(), "SELECT current_setting('max_connections'), current_setting('unix_socket_directories')").Scan(&n, &dir)
		if err != nil || n != "7" {
			t.Errorf("max_connections = %s, %v, want 7", n, err)
		}
	})
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("directory %s is still there: %v", dir, err)
	}
	if conn, err := pgx.Connect(t.Context(), dsn); err == nil {
		conn.Close(t.Context())
		t.Error("the server still answers")
	}
}
