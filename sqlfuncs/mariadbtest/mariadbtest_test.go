package mariadbtest

import (
	"database/sql"
	"os"
	"testing"

	_ "github.com/go-sql-driver/mysql"
)

func TestStart(t *testing.T) {
	var dir string
	t.Run("use", func(t *testing.T) {
		addr, socket := Start(t, "max-connections=17")
		dir = socket
		for _, dsn := range []string{"root@tcp(" + addr + ")/test", "root@unix(" + socket + ")/test"} {
			db, err := sql.Open("mysql", dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			var most int
			if err := db.QueryRow("SELECT @@max_connections").Scan(&most); err != nil || most != 17 {
				t.Errorf("%s: max_connections %d, %v", dsn, most, err)
			}
			if _, err := db.Exec("CREATE OR REPLACE TABLE t (id BIGINT PRIMARY KEY)"); err != nil {
				t.Errorf("%s: %v", dsn, err)
			}
		}
	})
	if _, err := os.Stat(dir); dir != "" && !os.IsNotExist(err) {
		t.Errorf("the server's directory is still there: %v", err)
	}
}
