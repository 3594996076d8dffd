package main

import (
	"database/sql"
	"os"
	"path/filepath"

	"clients/verdict"

	generator "github.com/go-jet/jet/v2/generator/postgres"
	. "github.com/go-jet/jet/v2/postgres"
	_ "github.com/lib/pq"
)

func main() {
	verdict.Version("github.com/go-jet/jet/v2")
	db, err := sql.Open("postgres", verdict.DSN())
	if err != nil {
		verdict.Fail("Open", err)
		verdict.Done()
	}
	name, id := StringColumn("name"), IntegerColumn("id")
	ids := NewTable("public", "ids", "", name, id)
	verdict.Check("a statement over the table ids, and a function", func() (int64, int64, error) {
		var a, b struct{ ID int64 }
		err := SELECT(id.AS("id")).FROM(ids).WHERE(name.EQ(String("orders"))).Query(db, &a)
		if err == nil {
			err = SELECT(Func("next_id", String("orders")).AS("id")).Query(db, &b)
		}
		return a.ID, b.ID, err
	})
	if verdict.Meta() {
		verdict.Succeed("meta generate", func() error {
			dir, err := os.MkdirTemp("", "jet")
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			if err := generator.GenerateDB(db, "public", dir); err != nil {
				return err
			}
			_, err = os.Stat(filepath.Join(dir, "public", "view", "ids.go"))
			return err
		})
	}
	_ = db.Close()
	verdict.Done()
}
