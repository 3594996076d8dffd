package syntax

// Dialect is the SQL dialect of a text.
type Dialect uint8

// The dialects. They have one parser; their lexers differ in quotes, comments,
// parameters and operators.
const (
	PostgreSQL Dialect = iota
	MySQL
)

// Pos is a byte offset into the text, -1 when unknown. Expressions embed it to
// implement Expr.
type Pos int32

// Position implements Expr.
func (p Pos) Position() Pos { return p }

// ---- statements ----

// Statement is one parsed SQL statement.
type Statement interface{ statement() }

// Name is an identifier or a qualified name, outermost part first, folded to
// lower case where it was not quoted.
type Name []string

// Last returns the last part.
func (n Name) Last() string { return n[len(n)-1] }

type (
	// Select is a query: SELECT, VALUES, set operations, WITH.
	Select struct {
		Pos           Pos
		With          []CTE
		Body          Query // *SelectCore, *Values or *SetOp
		OrderBy       []OrderItem
		Limit, Offset Expr     // nil: none. LIMIT ALL is nil
		Locking       bool     // FOR UPDATE and the like, ignored
		Into          []string // user variables of MySQL's SELECT … INTO @a, @b, without the @
	}
	// Explain is EXPLAIN [ANALYZE] statement. MySQL's DESCRIBE of a query is the same.
	Explain struct {
		Analyze   bool
		Statement Statement
	}
	// Set is SET [SESSION|LOCAL] name = value, …; RESET is a Set with Default.
	// SET TIME ZONE, NAMES, TRANSACTION, SESSION CHARACTERISTICS, SESSION
	// AUTHORIZATION and ROLE come as the settings timezone, client_encoding,
	// transaction_isolation / transaction_read_only / transaction_deferrable,
	// default_transaction_… , session_authorization and role.
	Set struct {
		Tag   string // "SET" or "RESET"
		Items []SetItem
	}
	// SetItem is one assignment.
	SetItem struct {
		Pos     Pos
		Name    string // lower case, dotted where qualified ("myapp.user"); MySQL user variables begin with "@"
		Local   bool
		Global  bool   // MySQL SET GLOBAL
		Default bool   // TO DEFAULT, RESET
		Values  []Expr // several for SET search_path TO a, b
	}
	// ResetAll is RESET ALL.
	ResetAll struct{}
	// Show is SHOW name or SHOW ALL ("all"); MySQL's SHOW forms come as ShowMySQL.
	Show struct{ Name string }
	// ShowMySQL is a MySQL SHOW statement: What is the upper-case words
	// after SHOW ("TABLES", "FULL COLUMNS", "CREATE TABLE", …).
	ShowMySQL struct {
		What  string
		From  Name   // FROM / IN table
		In    string // FROM / IN database
		User  string // of GRANTS FOR; "": the session's user
		Like  string
		Where Expr
	}
	// Transaction is BEGIN, START TRANSACTION, COMMIT, END, ROLLBACK, ABORT,
	// SAVEPOINT, …
	Transaction struct {
		Kind      TransactionKind
		Savepoint string
		Modes     []SetItem // transaction_isolation, transaction_read_only, transaction_deferrable
	}
	// Prepare is PREPARE name [(types)] AS statement.
	Prepare struct {
		Name      string
		Types     []TypeName
		Statement Statement
		Text      string // text of the inner statement; MySQL's PREPARE has no Statement
	}
	// Execute is EXECUTE name [(args)].
	Execute struct {
		Pos  Pos
		Name string
		Args []Expr
	}
	// Deallocate is DEALLOCATE [PREPARE] name, or ALL with Name "".
	Deallocate struct{ Name string }
	// Discard is DISCARD ALL, PLANS, SEQUENCES or TEMP.
	Discard struct{ What string }
	// Declare is DECLARE name [options] CURSOR [WITH HOLD] FOR query.
	Declare struct {
		Name         string
		Hold, Scroll bool
		Query        *Select
		Text         string // text of the query
	}
	// Fetch is FETCH or MOVE.
	Fetch struct {
		Move   bool
		Count  int64 // FetchAll for ALL; below 0: backward
		Cursor string
	}
	// CloseCursor is CLOSE name, or ALL with Name "".
	CloseCursor struct{ Name string }
	// Copy is COPY … TO STDOUT.
	Copy struct {
		Query  *Select // COPY (query) TO; COPY table TO is SELECT columns FROM table
		CSV    bool    // else text
		Header bool
	}
	// Call is a statement that runs an expression and returns nothing: MySQL's DO.
	Call struct{ Exprs []Expr }
	// CreateSequence is CREATE [TEMP] SEQUENCE [IF NOT EXISTS] name options.
	CreateSequence struct {
		Pos         Pos
		Name        Name
		IfNotExists bool
		OrReplace   bool // MariaDB's
		Options     SequenceOptions
	}
	// AlterSequence is ALTER SEQUENCE [IF EXISTS] name options.
	AlterSequence struct {
		Pos      Pos
		Name     Name
		IfExists bool
		Options  SequenceOptions
	}
	// DropSequence is DROP SEQUENCE [IF EXISTS] name, ….
	DropSequence struct {
		Pos      Pos
		Names    []Name
		IfExists bool
	}
	// SequenceNote sets owners, comments or grants of sequences, which nextid does
	// not store: ALTER SEQUENCE or TABLE … OWNER TO, COMMENT ON SEQUENCE, GRANT and
	// REVOKE … ON SEQUENCE.
	SequenceNote struct {
		Pos      Pos // of the first name
		Tag      string
		What     string // "owners", "comments" or "grants"
		Names    []Name // nil: ALL SEQUENCES IN SCHEMA
		IfExists bool
	}
	// Use is MySQL's USE database.
	Use struct{ Database string }
	// SetStatement is MariaDB's SET STATEMENT name = value, … FOR statement.
	SetStatement struct {
		Items     []SetItem
		Statement Statement
	}
	// Kill is MySQL's KILL [CONNECTION|QUERY] id.
	Kill struct {
		Query bool
		ID    Expr
	}
	// Lock is LOCK [TABLE] …, UNLOCK TABLES, FLUSH and UNLISTEN. They have no effect: no
	// session writes rows, and there are no notifications.
	Lock struct{ Tag string }
	// Unsupported is a statement that is recognised and refused: INSERT,
	// CREATE TABLE, DO $$…$$, … What names the statement in the error, such as
	// "CREATE TABLE".
	Unsupported struct {
		Pos  Pos
		What string
	}
)

// TransactionKind tells the transaction statements apart.
type TransactionKind uint8

// The transaction statements, by command tag.
const (
	Begin            TransactionKind = iota // tag BEGIN
	StartTransaction                        // tag START TRANSACTION
	Commit                                  // COMMIT, END
	Rollback                                // ROLLBACK, ABORT
	Savepoint
	ReleaseSavepoint
	RollbackToSavepoint
)

// FetchAll is Fetch.Count of FETCH ALL.
const FetchAll = int64(1) << 62

// SequenceOptions are the options of CREATE and ALTER SEQUENCE; nil: not given.
type SequenceOptions struct {
	Start, Increment, MinValue, MaxValue, Cache *int64
	NoMinValue, NoMaxValue                      bool
	Cycle                                       *bool
	Restart                                     bool // RESTART [WITH n]
	RestartWith                                 *int64
	As                                          *TypeName
	OwnedBy                                     bool    // OWNED BY anything: accepted and ignored
	Comment                                     *string // MariaDB's; its ENGINE is skipped
}

// ---- queries ----

// Query is the body of a Select.
type Query interface{ query() }

type (
	// SelectCore is SELECT … FROM … WHERE … GROUP BY … HAVING.
	SelectCore struct {
		Pos      Pos
		Distinct bool
		Targets  []Target
		From     []TableRef // comma list
		Where    Expr
		GroupBy  []Expr
		Having   Expr
	}
	// Values is VALUES (…), (…).
	Values struct {
		Pos  Pos
		Rows [][]Expr
	}
	// SetOp is UNION [ALL].
	SetOp struct {
		Pos         Pos
		All         bool
		Left, Right *Select
	}
	// CTE is one WITH item.
	CTE struct {
		Pos       Pos
		Name      string
		Columns   []string
		Query     *Select
		Recursive bool
	}
	// Target is one select-list item.
	Target struct {
		Expr  Expr   // *Star for * and t.*
		Alias string // "" when not given
		Text  string // source text of the expression (MySQL names columns so)
	}
	// OrderItem is one ORDER BY item.
	OrderItem struct {
		Expr       Expr
		Desc       bool
		NullsFirst *bool // nil: PostgreSQL's default for the direction
	}
)

// TableRef is an item of FROM.
type TableRef interface{ tableRef() }

type (
	// Table is a relation by name.
	Table struct {
		Pos     Pos
		Name    Name
		Alias   string
		Columns []string // alias(column, …)
	}
	// TableFunc is a function in FROM.
	TableFunc struct {
		Pos        Pos
		Func       *FuncCall
		Lateral    bool
		Ordinality bool // WITH ORDINALITY
		Alias      string
		Columns    []string
	}
	// Derived is a subquery in FROM.
	Derived struct {
		Pos     Pos
		Query   *Select
		Lateral bool
		Alias   string
		Columns []string
	}
	// Join is JOIN.
	Join struct {
		Pos         Pos
		Kind        JoinKind
		Left, Right TableRef
		On          Expr
		Using       []string
	}
)

// JoinKind is the kind of a join.
type JoinKind uint8

// The joins. MySQL's joins without a condition are CrossJoin.
const (
	InnerJoin JoinKind = iota
	LeftJoin
	CrossJoin
)

// ---- expressions ----

// Expr is an expression. Position is where errors about the expression point.
type Expr interface{ Position() Pos }

// TypeName is a type as written. CHAR without quotes is "character", since
// "char" is another type; in a constant (char 'x') it is "bpchar". The fields
// of an interval are part of its name: "interval day to second". In MySQL's
// casts CHAR is "varchar", SIGNED is "bigint", and INTERVAL 1 DAY_HOUR is a
// cast to "interval day to hour".
type TypeName struct {
	Pos   Pos
	Name  Name    // lower case, multi-word names joined: "double precision", "timestamp with time zone", "character varying"
	Mods  []int64 // (10,2)
	Array int     // number of []
}

type (
	// Literal is a constant.
	Literal struct {
		Pos
		Kind LiteralKind
		Text string // decoded: without quotes, escapes done; digits as written for numbers
	}
	// Param is $1 (Number 1) or the n-th ?.
	Param struct {
		Pos
		Number int
	}
	// Column is a column reference, possibly qualified.
	Column struct {
		Pos
		Name Name
	}
	// Star is * or t.*.
	Star struct {
		Pos
		Table Name // empty for *
	}
	// Variable is MySQL's @user or @@system variable.
	Variable struct {
		Pos
		System bool
		Scope  string // "", "global", "session"
		Name   string
	}
	// Assign is MySQL's @a := expr.
	Assign struct {
		Pos
		Name  string
		Value Expr
	}
	// FuncCall is a function call. Special syntax (CURRENT_DATE, EXTRACT(x
	// FROM y), SUBSTRING(a FROM b), TRIM, POSITION, COALESCE, …) comes as a
	// call of the function PostgreSQL maps it to (pg_catalog.extract, …);
	// CURRENT_USER and the like have Bare set.
	FuncCall struct {
		Pos
		Name     Name
		Args     []Arg
		Star     bool // count(*)
		Distinct bool
		OrderBy  []OrderItem
		Over     *Window
		Bare     bool // written without parentheses
	}
	// Arg is one argument; Name is set for name => value and name := value.
	// MySQL's GROUP_CONCAT(… SEPARATOR s) and CONVERT(x USING c) have s and c
	// as a last argument with the name "separator" or "using".
	Arg struct {
		Name  string
		Value Expr
	}
	// Window is OVER (PARTITION BY … ORDER BY …).
	Window struct {
		Pos         Pos
		PartitionBy []Expr
		OrderBy     []OrderItem
	}
	// Unary is a prefix operator: "-", "+", "NOT", "~", "@" ….
	Unary struct {
		Pos
		Op string
		X  Expr
	}
	// Binary is an infix operator, upper case for words ("AND", "OR"); Pos is the
	// operator's. OPERATOR(pg_catalog.~) comes as the plain "~". MySQL's synonyms
	// are mapped to PostgreSQL's ("&&" to "AND", "<=>" stays, "DIV", "MOD", "XOR"
	// stay).
	Binary struct {
		Pos
		Op   string
		L, R Expr
	}
	// Like is [NOT] LIKE and SIMILAR TO.
	Like struct {
		Pos
		Op                 string // "LIKE", "SIMILAR TO"
		Not                bool
		X, Pattern, Escape Expr
	}
	// Is is IS [NOT] NULL / TRUE / FALSE / UNKNOWN.
	Is struct {
		Pos
		Not  bool
		What string // "NULL", "TRUE", "FALSE", "UNKNOWN"
		X    Expr
	}
	// IsDistinct is IS [NOT] DISTINCT FROM.
	IsDistinct struct {
		Pos
		Not  bool
		L, R Expr
	}
	// Between is [NOT] BETWEEN.
	Between struct {
		Pos
		Not          bool
		X, Low, High Expr
	}
	// In is [NOT] IN (list) or (subquery).
	In struct {
		Pos
		Not   bool
		X     Expr
		List  []Expr // nil when Query is set
		Query *Select
	}
	// Quantified is x op ANY|SOME|ALL (array). = ANY and <> ALL (subquery) come as In.
	Quantified struct {
		Pos
		Op       string
		All      bool
		X, Array Expr
	}
	// Exists is EXISTS (subquery).
	Exists struct {
		Pos
		Query *Select
	}
	// Subquery is a scalar subquery, or ARRAY(subquery) with Array set.
	Subquery struct {
		Pos
		Array bool
		Query *Select
	}
	// Case is CASE.
	Case struct {
		Pos
		Operand Expr // nil for a searched case
		Whens   []When
		Else    Expr
	}
	// When is one branch of a Case.
	When struct{ Cond, Result Expr }
	// Cast is CAST(x AS t), x::t and t 'literal'.
	Cast struct {
		Pos
		X    Expr
		Type TypeName
	}
	// Collate is x COLLATE c.
	Collate struct {
		Pos
		X         Expr
		Collation Name
	}
	// Array is ARRAY[…].
	Array struct {
		Pos
		Elems []Expr
	}
	// Subscript is x[i].
	Subscript struct {
		Pos
		X, Index Expr
	}
	// Field is (x).name.
	Field struct {
		Pos
		X    Expr
		Name string
	}
	// Default is the keyword DEFAULT as a value.
	Default struct{ Pos }
	// NextValueFor is NEXT VALUE FOR name (standard SQL, MariaDB).
	NextValueFor struct {
		Pos
		Name Name
	}
	// NextValues is Vitess's NEXT n VALUES in SELECT NEXT n VALUES FROM t: the only
	// target of its SelectCore.
	NextValues struct {
		Pos
		Count Expr // nil: NEXT VALUE
	}
)

// LiteralKind is the kind of a Literal.
type LiteralKind uint8

// The literals.
const (
	NullLiteral    LiteralKind = iota
	BoolLiteral                // Text "true" or "false"
	IntegerLiteral             // Text all digits
	NumericLiteral             // with a point or an exponent
	StringLiteral
	BytesLiteral // MySQL's x'1F': Text is the raw bytes
)

// The methods below mark the types that implement Statement, Query and TableRef.
// TestEverythingIsAskedFor in package sqlfuncs reads the list of statements here.

func (*Select) statement()         {}
func (*Explain) statement()        {}
func (*Set) statement()            {}
func (*ResetAll) statement()       {}
func (*Show) statement()           {}
func (*ShowMySQL) statement()      {}
func (*Transaction) statement()    {}
func (*Prepare) statement()        {}
func (*Execute) statement()        {}
func (*Deallocate) statement()     {}
func (*Discard) statement()        {}
func (*Declare) statement()        {}
func (*Fetch) statement()          {}
func (*CloseCursor) statement()    {}
func (*Copy) statement()           {}
func (*Call) statement()           {}
func (*CreateSequence) statement() {}
func (*AlterSequence) statement()  {}
func (*DropSequence) statement()   {}
func (*SequenceNote) statement()   {}
func (*Use) statement()            {}
func (*SetStatement) statement()   {}
func (*Kill) statement()           {}
func (*Lock) statement()           {}
func (*Unsupported) statement()    {}

func (*SelectCore) query() {}
func (*Values) query()     {}
func (*SetOp) query()      {}

func (*Table) tableRef()     {}
func (*TableFunc) tableRef() {}
func (*Derived) tableRef()   {}
func (*Join) tableRef()      {}
