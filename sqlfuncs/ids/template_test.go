package ids_test

import (
	"testing"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/sqltest"
)

func TestTemplates(t *testing.T) {
	server := sqltest.NewServer(t, sqltest.Config{NoAutoCreate: true})
	s, m := server.Session(t), server.MySQLSession(t)
	s.Want(t, "SELECT create_template('inv:*', 'counter', start => 100)", "inv:*")
	m.Want(t, "SELECT create_template('gene:*', 'snowflake', '{\"bits\": \"time 41, field 10, worker 3, sequence 9\"}')", "gene:*")
	s.Want(t, "SELECT next_id('inv:acme')", "100")
	m.Want(t, "SELECT next_id('inv:acme')", "101")
	s.Want(t, "SELECT nextval('\"inv:shop\"')", "100")
	s.Want(t, "SELECT id FROM ids WHERE name = 'inv:table'", "100")
	s.Want(t, "SELECT field FROM parse_id(next_id('gene:a', 713), 'gene:a')", "713")
	s.Want(t, "SELECT pattern, kind FROM nextid.templates", "gene:*|snowflake\ninv:*|counter")
	s.Want(t, "SELECT count(*) FROM nextid.generators", "4")
	s.Fails(t, "SELECT next_id('orders')", sqlstate.UndefinedTable)
	s.Fails(t, "SELECT create_template('inv:*', 'counter')", sqlstate.DuplicateObject)
	s.Fails(t, "SELECT create_template('inv', 'counter')", sqlstate.InvalidParameterValue)
	s.Fails(t, "SELECT next_id('inv:*')", sqlstate.InvalidParameterValue)
	m.Want(t, "SELECT drop_template('inv:*')", "inv:*")
	s.Fails(t, "SELECT drop_template('inv:*')", sqlstate.UndefinedTable)
	s.Fails(t, "SELECT next_id('inv:new')", sqlstate.UndefinedTable)
	s.Want(t, "SELECT next_id('inv:acme')", "102")
	auto := sqltest.NewServer(t, sqltest.Config{IDs: ids.Config{Sequence: ids.Auto{Kind: "segment"}}}).Session(t)
	auto.Must(t, "SELECT create_template('n:*', 'counter', start => 100)")
	auto.Want(t, "SELECT nextval('\"n:x\"'), next_id('n:y')", "100|100")
	user := server.SessionWith(t, sqlfuncs.SessionOptions{User: "shop"})
	user.Fails(t, "SELECT create_template('x*', 'counter')", sqlstate.InsufficientPrivilege)
}
