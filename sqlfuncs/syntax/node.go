package syntax

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
func (*Listen) statement()         {}
func (*Use) statement()            {}
func (*SetStatement) statement()   {}
func (*Kill) statement()           {}
func (*CallProcedure) statement()  {}
func (*Lock) statement()           {}
func (*Unsupported) statement()    {}

func (*SelectCore) query() {}
func (*Values) query()     {}
func (*SetOp) query()      {}

func (*Table) tableRef()     {}
func (*TableFunc) tableRef() {}
func (*Derived) tableRef()   {}
func (*Join) tableRef()      {}
