package drift

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Repair puts right what can be put right without losing data, and says what it did and what it left alone, and why.
func Repair(ctx context.Context, tx pgx.Tx, m upgrade.Manifest, members bool) (done, left []Difference, err error) {
	r := &repairer{ctx: ctx, tx: tx, m: m}
	seen := map[string]bool{}
	for { // what one repair makes may be what others wait for
		if left, err = Compare(ctx, tx, m, members); err != nil {
			return nil, nil, err
		}
		done = without(done, left)
		state := fmt.Sprint(left)
		if seen[state] || !slices.ContainsFunc(left, may) {
			return done, r.explain(left), r.recount(done)
		}
		seen[state], r.refused = true, map[string]string{}
		for _, d := range left {
			if !may(d) {
				continue
			}
			done = append(done, d)
			if err := r.repair(d); err != nil {
				return nil, nil, err
			}
		}
		if err := r.attach(left); err != nil {
			return nil, nil, err
		}
	}
}

// Mark puts back the marks that somebody removed from what is ours, and says where the database differs from what a version installs. It repairs nothing else.
func Mark(ctx context.Context, tx pgx.Tx, m upgrade.Manifest, members bool) ([]Difference, error) {
	found, err := Compare(ctx, tx, m, members)
	r := &repairer{ctx: ctx, tx: tx, m: m, refused: map[string]string{}}
	for _, d := range found {
		if err == nil && d.Aspect == "comment" && may(d) {
			err = r.repair(d)
		}
	}
	return found, err
}

// may reports whether a difference is to be repaired.
func may(d Difference) bool { return d.Left == "" }

// without takes away the differences that are still there.
func without(done, found []Difference) []Difference {
	return slices.DeleteFunc(done, func(d Difference) bool {
		return slices.ContainsFunc(found, func(f Difference) bool { return f.String() == d.String() })
	})
}

type repairer struct {
	ctx     context.Context
	tx      pgx.Tx
	m       upgrade.Manifest
	refused map[string]string // why the server refused a repair, by the difference
}

// explain says of what is left why.
func (r *repairer) explain(left []Difference) []Difference {
	for n, d := range left {
		if why := r.refused[d.String()]; d.Left == "" {
			left[n].Left = cmp.Or(why, "its repair had no effect")
		}
	}
	return left
}

// repair runs the statements of a difference; what the server refuses is noted.
func (r *repairer) repair(d Difference) error {
	sql := script(d.repair)
	if sql == "" {
		return nil
	}
	err := attempt(r.ctx, r.tx, sql)
	if err != nil && len(d.again) > 0 {
		err = r.again(d)
	}
	if err != nil {
		r.refused[d.String()] = message(err)
	}
	return r.ctx.Err()
}

func script(statements []string) string {
	var out strings.Builder
	for _, s := range statements {
		out.WriteString(strings.TrimRight(s, "; \n") + ";\n")
	}
	return out.String()
}

// again drops an object and makes it again, with what others were granted on it.
func (r *repairer) again(d Difference) error {
	var grants []string
	if err := r.tx.QueryRow(r.ctx, grantsSQL, d.Object).Scan(&grants); err != nil {
		return err
	}
	return attempt(r.ctx, r.tx, script(append(d.again, grants...)))
}

// grantsSQL lists what was granted on a view, a function or a procedure to others than its owner.
const grantsSQL = `
select coalesce(array_agg(format('grant %s on %s to %s', g.privilege_type, regexp_replace($1, '^view ', ''), case g.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(g.grantee)) end)), '{}')
from (
    select c.relacl as acl, c.relowner as owner
    from pg_class c
    where $1 like 'view %' and c.oid = to_regclass(substr($1, 6))
    union all
    select p.proacl, p.proowner
    from pg_proc p
    where $1 not like 'view %' and p.oid = to_regprocedure(regexp_replace($1, '^[a-z]+ ', ''))
) o
cross join aclexplode(o.acl) g
where g.grantee <> o.owner`

// attach has functions make what is missing of what they make. Filling comes later, and keeps nobody waiting.
func (r *repairer) attach(found []Difference) error {
	wants := slices.DeleteFunc(slices.Clone(found), func(d Difference) bool { return !d.attach || !may(d) })
	if len(wants) == 0 {
		return nil
	}
	argument := ""
	schema := sqltext.Ident(r.m.Schema)
	if slices.ContainsFunc(r.m.Objects, func(o upgrade.Object) bool { return o.ID() == "function "+schema+".attach(bool)" }) {
		argument = "false"
	}
	if err := attempt(r.ctx, r.tx, fmt.Sprintf("select %s.attach(%s)", schema, argument)); err != nil {
		for _, d := range wants {
			r.refused[d.String()] = message(err)
		}
	}
	return r.ctx.Err()
}

// recount counts inboxes again of which an object was recreated: messages may have passed uncounted.
func (r *repairer) recount(done []Difference) error {
	for _, made := range r.m.Made {
		if made.Kind != "counts of inbox" || !slices.ContainsFunc(done, func(d Difference) bool { return r.counts(made, d) }) {
			continue
		}
		if err := attempt(r.ctx, r.tx, made.Recreate); err != nil {
			return fmt.Errorf("counting inbox %s: %w", made.Name, err)
		}
	}
	return nil
}

// counts reports whether the counts of an inbox rest on what was repaired: a table of counts, the inbox's table, a sequence that its triggers
// read, or a trigger of it.
func (r *repairer) counts(made upgrade.Made, d Difference) bool {
	onTable := " on " + made.On[0]
	if d.What == Missing && (d.Object == "table "+made.On[0] || slices.Contains(rebuilding(r.m).Needs, d.Object) || r.read(d.Object, onTable)) {
		return true
	}
	return r.fires(d.Object, onTable)
}

// rebuilding is the function that counts an inbox again.
func rebuilding(m upgrade.Manifest) upgrade.Object {
	prefix := "function " + sqltext.Qualified(m.Internal, "pgt_inbox_rebuild") + "("
	n := slices.IndexFunc(m.Objects, func(o upgrade.Object) bool { return strings.HasPrefix(o.ID(), prefix) })
	if n < 0 {
		return upgrade.Object{}
	}
	return m.Objects[n]
}

// read reports whether an object is a sequence that a trigger on a table reads.
func (r *repairer) read(object, onTable string) bool {
	return strings.HasPrefix(object, "sequence ") && slices.ContainsFunc(r.m.Objects, func(o upgrade.Object) bool {
		return o.Kind == "trigger" && strings.HasSuffix(o.Signature, onTable) && slices.Contains(o.Needs, object)
	})
}

// fires reports whether an object is a trigger on a table, or the function of one.
func (r *repairer) fires(object, onTable string) bool {
	return slices.ContainsFunc(r.m.Objects, func(o upgrade.Object) bool {
		return o.Kind == "trigger" && strings.HasSuffix(o.Signature, onTable) && (o.ID() == object || slices.Contains(o.Needs, object))
	})
}
