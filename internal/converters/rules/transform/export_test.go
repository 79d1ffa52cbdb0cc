package transform

// Spent returns what the expressions for the object have cost so far, in units.
func (c *Call) Spent() uint64 { return c.spent.units }
