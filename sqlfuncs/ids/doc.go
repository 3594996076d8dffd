// Package ids is the product in SQL: the functions and tables that hand out
// ids, take them apart, and create, change and watch generators.
//
// # Where to find things
//
//	next_id, next_ids, next_range        next.go; what they draw with: draw.go
//	next_code, next_codes                code.go
//	nextval, currval, setval, lastval    sequence.go; CREATE SEQUENCE: sequence_statement.go
//	parse_id, id_time, id_floor, id_ceil parse.go
//	UUIDs, ULIDs and their like          uuid.go; in other forms, and public ones: public.go
//	hold_id, confirm_id, void_id         hold.go
//	get_id, as Twitter's service has it  service.go; who called it: agent.go
//	create_template, drop_template       template.go
//	lease_worker and its like            lease.go
//	create_generator and its like        admin.go; import_generator: import.go
//	ids, id_batch, id_ranges, id_fields, id_parts,
//	NAME_id                              tables.go; a generator read as a sequence: sequence_table.go
//	nextid.generators, nextid.nodes, …   operator.go
//
// # A new function
//
// It is one entry: an engine.Function, with what it Does, in the list of the file
// that it belongs to, which Functions (functions.go) joins. Both dialects and the
// catalogs have it then. A new table is one entry in idTables or operatorTables.
// sqlfuncs/asked.tsv says who asks for it: one line, without which a test fails.
//
// The functions know of a session what Session says, and of the server what
// Server has. They draw from generator.Entry; nothing here speaks a protocol.
package ids
