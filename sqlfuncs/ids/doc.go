// Package ids has nextid's own SQL functions and tables. They draw and decode ids, and
// create, change and show generators.
//
// # Where to find things
//
//	next_id, next_ids, next_range        next.go; the draws: draw.go
//	next_code, next_codes                code.go
//	nextval, currval, setval, lastval    sequence.go; CREATE SEQUENCE: sequence_statement.go
//	parse_id, id_time, id_floor, id_ceil parse.go
//	UUIDs, ULIDs and their like          uuid.go; in other forms, and public ones: public.go
//	hold_id, confirm_id, void_id         hold.go
//	get_id of Twitter's service          service.go; its callers: agent.go
//	create_template, drop_template       template.go
//	lease_worker and its like            lease.go
//	create_generator and its like        admin.go; import_generator: import.go
//	ids, id_batch, id_ranges, id_fields, id_parts,
//	NAME_id                              tables.go; a generator read as a sequence: sequence_table.go
//	nextid.generators, nextid.nodes, …   operator.go
//
// # A new function
//
// Add an engine.Func to a list of the file where it belongs. Functions
// (functions.go) joins the lists; both dialects and the catalogs then have the
// function. A new table is an entry in idTables or operatorTables. A test requires a
// line in sqlfuncs/asked.tsv that names the clients which use it.
//
// The functions use a session through Session and the server through Server. They draw
// from generator.Entry and contain no protocol.
package ids
