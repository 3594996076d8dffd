package syntax

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

// Position implements Expr.
func (x *Literal) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *Param) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *Column) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *Star) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *Variable) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *Assign) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *FuncCall) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *Unary) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *Binary) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *Like) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *Is) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *IsDistinct) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *Between) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *In) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *Quantified) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *Exists) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *Subquery) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *Case) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *Cast) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *Collate) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *AtTimeZone) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *Array) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *Row) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *Subscript) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *Field) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *Default) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *Paren) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *NextValueFor) Position() Pos { return x.Pos }

// Position implements Expr.
func (x *NextValues) Position() Pos { return x.Pos }
