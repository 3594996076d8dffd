package syntax

// tokenKind is the lexical class of a token.
type tokenKind uint8

const (
	tokEOF      tokenKind = iota
	tokError              // see the lexer's err
	tokWord               // unquoted identifier or keyword, text folded to lower case
	tokIdent              // quoted identifier
	tokString             // character string, text decoded
	tokBits               // bit string, text is its binary digits
	tokBytes              // binary string (MySQL), text is the raw bytes
	tokInteger            // text is decimal digits
	tokNumeric            // with a point or an exponent
	tokParam              // $n (text is the digits) or ? (text empty)
	tokVariable           // MySQL's @name (text is the name) or @@name (text is @name)
	tokOp                 // operator
	tokPunct              // ( ) [ ] , ; . : :: := => ..
)

// token is one lexical element of a text: src[start:end].
type token struct {
	kind       tokenKind
	class      class // of a tokWord
	needsAs    bool  // a tokWord that is no column label without AS
	start, end int
	text       string
}

// isWord reports whether t is the unquoted word w, given in lower case.
func (t *token) isWord(w string) bool { return t.kind == tokWord && t.text == w }

// isPunct reports whether t is the punctuation mark s.
func (t *token) isPunct(s string) bool { return t.kind == tokPunct && t.text == s }

// isOp reports whether t is the operator s.
func (t *token) isOp(s string) bool { return t.kind == tokOp && t.text == s }

// isName reports whether t may name a column or a table (PostgreSQL's ColId).
func (t *token) isName() bool {
	return t.kind == tokIdent || t.kind == tokWord && t.class <= colName
}

// isFunctionName reports whether t may name a function or a type (PostgreSQL's
// type_function_name).
func (t *token) isFunctionName() bool {
	return t.kind == tokIdent || t.kind == tokWord && (t.class == unreserved || t.class == typeFunc)
}

// isLabel reports whether t may follow AS or a dot (PostgreSQL's ColLabel).
func (t *token) isLabel() bool { return t.kind == tokIdent || t.kind == tokWord }

// isBareLabel reports whether t may name a column without AS.
func (t *token) isBareLabel() bool { return t.kind == tokIdent || t.kind == tokWord && !t.needsAs }

// endsStatement reports whether no token of the statement is left.
func (t *token) endsStatement() bool { return t.kind == tokEOF || t.isPunct(";") }
