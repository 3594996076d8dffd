package foreign

import (
	"fmt"
	"regexp"
	"strings"
)

// Fill is a column whose values a trigger draws.
type Fill struct {
	Database, Table, Column string // Database "" is that of the URL
	Generator               string
}

// generatorName is what nextid takes as a name and needs no quoting in SQL.
var generatorName = regexp.MustCompile(`^[!-&(-\[\]-~]{1,128}$`)

// ParseFill reads [DATABASE.]TABLE.COLUMN=GENERATOR.
func ParseFill(text string) (Fill, error) {
	column, generator, ok := strings.Cut(text, "=")
	parts := strings.Split(column, ".")
	if len(parts) == 2 {
		parts = append([]string{""}, parts...)
	}
	if !ok || len(parts) != 3 || parts[1] == "" || parts[2] == "" || !generatorName.MatchString(generator) {
		return Fill{}, &Error{What: "--fill: not a column and the name of a generator", Hint: "Write --fill orders.id=orders, or --fill shop.orders.id=orders."}
	}
	return Fill{parts[0], parts[1], parts[2], generator}, nil
}

// fills are the columns with their databases.
func (c Config) fills(database string) ([]Fill, error) {
	fills := make([]Fill, 0, len(c.Fill))
	for _, f := range c.Fill {
		if f.Database == "" {
			f.Database = database
		}
		if f.Database == "" {
			return nil, &Error{What: "--fill: in which database is the table " + f.Table + "?", Hint: "Name it in --dsn, or write DATABASE.TABLE.COLUMN."}
		}
		fills = append(fills, f)
	}
	return fills, nil
}

// name is the table's name in SQL.
func (f Fill) name() string { return backQuoted(f.Database) + "." + backQuoted(f.Table) }

// sql makes the trigger. A value that the application gives stays.
func (f Fill) sql() string {
	column, trigger := "NEW."+backQuoted(f.Column), "nextid_"+f.Table+"_"+f.Column
	if len(trigger) > 64 {
		trigger = trigger[:64]
	}
	trigger = backQuoted(f.Database) + "." + backQuoted(trigger)
	return fmt.Sprintf(`DROP TRIGGER IF EXISTS %[1]s;
CREATE TRIGGER %[1]s BEFORE INSERT ON %[2]s FOR EACH ROW
    IF %[3]s IS NULL OR %[3]s = 0 THEN
        SET %[3]s = nextid.next_id('%[4]s');
    END IF`, trigger, f.name(), column, f.Generator)
}
