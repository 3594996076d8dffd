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
	verdict.Must("Open", err)
	name, id := StringColumn("name"), IntegerColumn("id")
	ids := NewTable("public", "ids", "", name, id)
	for what, statement := range map[string]SelectStatement{
		"the table ids": SELECT(id.AS("id")).FROM(ids).WHERE(name.EQ(String("orders"))),
		"a function":    SELECT(Func("next_id", String("orders")).AS("id")),
	} {
		verdict.Twice(what, func(id *int64) error {
			var row struct{ ID int64 }
			err := statement.Query(db, &row)
			*id = row.ID
			return err
		})
	}
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
