package objects

import (
	"fmt"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

func nameClash(second, first Origin, created sqltext.Statement) diag.Error {
	return diag.Error{
		Pos: second.pos, Code: "name-clash",
		Message: fmt.Sprintf("%s makes %s %s, and so does %s", second.What, created.Kind, created.Signature(), first.What),
		Hint:    "rename one of them",
		Also:    []diag.Note{{Pos: first.pos, Message: first.What + " stands here"}},
	}
}

func notOnline(at diag.Pos, t render.StreamTable) diag.Error {
	e := diag.Error{
		Pos: at, Code: "conflict",
		Message: fmt.Sprintf("stream table %s is in immediate mode: writers keep it up to date, so it cannot be recreated beside the old one", t.ID()),
		Hint:    "leave rebuild out",
	}
	if !t.Immediate {
		e.Message = fmt.Sprintf("stream table %s cannot be recreated beside the old one: others follow its changes", t.ID())
		e.Hint = "leave rebuild out; or give those that read it refresh_mode: full"
	}
	return e
}
