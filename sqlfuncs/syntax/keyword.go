package syntax

import "strings"

// class tells where a word may be used without quotes (PostgreSQL manual, "SQL Key
// Words").
type class uint8

const (
	unreserved class = iota // anywhere; all words that are no keywords
	colName                 // column or table, not function
	typeFunc                // function or type, not column
	reserved                // only as a label
)

// keyword describes a keyword of a dialect.
type keyword struct {
	class   class
	needsAs bool // it is a column label only after AS
}

// The keywords of PostgreSQL 15 (pg_get_keywords()) by class. Words marked with *
// are labels only after AS. Unreserved keywords that need no AS are left out: they
// behave as other words.
const (
	pgUnreserved = `day* filter* hour* minute* month* over* second* varying* within* without* year*`

	pgColName = `between bigint bit boolean char* character* coalesce dec decimal exists extract
		float greatest grouping inout int integer interval least national nchar none normalize
		nullif numeric out overlay position precision* real row setof smallint substring time
		timestamp treat trim values varchar xmlattributes xmlconcat xmlelement xmlexists
		xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`

	pgTypeFunc = `authorization binary collation concurrently cross current_schema freeze full
		ilike inner is isnull* join left like natural notnull* outer overlaps* right similar
		tablesample verbose`

	pgReserved = `all analyse analyze and any array* as* asc asymmetric both case cast check
		collate column constraint create* current_catalog current_date current_role
		current_time current_timestamp current_user default deferrable desc distinct do else
		end except* false fetch* for* foreign from* grant* group* having* in initially
		intersect* into* lateral leading limit* localtime localtimestamp not null offset* on*
		only or order* placing primary references returning* select session_user some
		symmetric table then to* trailing true union* unique user using variadic when where*
		window* with*`
)

// mysqlReserved lists the reserved words of MySQL 5.7, and those of later versions
// and MariaDB that separate the clauses of a query.
const mysqlReserved = `accessible add all alter analyze and as asc asensitive before between bigint
	binary blob both by call cascade case change char character check collate column condition
	constraint continue convert create cross current_date current_time current_timestamp
	current_user cursor database databases day_hour day_microsecond day_minute day_second dec
	decimal declare default delayed delete desc describe deterministic distinct distinctrow div
	double drop dual each else elseif enclosed escaped except exists exit explain false fetch
	float float4 float8 for force foreign from fulltext generated get grant group having
	high_priority hour_microsecond hour_minute hour_second if ignore in index infile inner inout
	insensitive insert int int1 int2 int3 int4 int8 integer intersect interval into is iterate
	join key keys kill leading leave left like limit linear lines load localtime localtimestamp
	lock long longblob longtext loop low_priority match mediumblob mediumint mediumtext
	middleint minute_microsecond minute_second mod modifies natural not no_write_to_binlog null
	numeric on optimize option optionally or order out outer outfile over partition precision
	primary procedure purge range read reads read_write real references regexp release rename
	repeat replace require resignal restrict return returning revoke right rlike schema schemas
	second_microsecond select sensitive separator set show signal smallint spatial specific sql
	sqlexception sqlstate sqlwarning sql_big_result sql_calc_found_rows sql_small_result ssl
	starting stored straight_join table terminated then tinyblob tinyint tinytext to trailing
	trigger true undo union unique unlock unsigned update usage use using utc_date utc_time
	utc_timestamp values varbinary varchar varcharacter varying virtual when where while with
	write xor year_month zerofill`

// keywords maps the lower-case keywords of each dialect.
var keywords = [...]map[string]keyword{
	PostgreSQL: keywordTable(false, pgUnreserved, pgColName, pgTypeFunc, pgReserved),
	MySQL:      keywordTable(true, "", "", "", mysqlReserved),
}

// IsKeyword reports whether a lower-case word is a keyword of PostgreSQL that
// quote_ident quotes.
func IsKeyword(word string) bool {
	return keywords[PostgreSQL][word].class != unreserved
}

// keywordTable builds the table of a dialect from its words by class. needAs marks
// all words as labels only after AS.
func keywordTable(needAs bool, byClass ...string) map[string]keyword {
	table := make(map[string]keyword)
	for c, words := range byClass {
		for w := range strings.FieldsSeq(words) {
			name, marked := strings.CutSuffix(w, "*")
			table[name] = keyword{class: class(c), needsAs: marked || needAs}
		}
	}
	return table
}
