package oracle

import (
	"context"

	"github.com/pgsluice/sluice/tests/views/oracle/cases"
)

// raising lists the views whose query ends with an error after an item, without stream tables.
func (p *Place) raising(ctx context.Context, c *cases.Case, item int) ([]string, error) {
	t := &trial{Place: p, c: c, result: &Result{}}
	if err := t.prepare(ctx); err != nil || t.result.Failure != nil {
		return nil, err
	}
	for n, i := range c.Items() {
		if n <= item && i.Kind != cases.Check && p.Major >= i.Since {
			_ = t.do(ctx, i)
		}
	}
	var raising []string
	for _, v := range c.Views {
		if p.owner.IsClosed() || p.owner.PgConn().TxStatus() == 'E' {
			return nil, nil
		}
		err := t.shielded(ctx, func() error {
			_, err := texts(ctx, p.owner, "select count(*) from (select q::text from (\n"+c.Truth(v)+"\n) q) q")
			return err
		})
		if err != nil {
			raising = append(raising, v.Name)
		}
	}
	return raising, nil
}
