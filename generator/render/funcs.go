package render

import (
	"text/template"

	"github.com/Masterminds/sprig/v3"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// unfit are functions of sprig's hermetic map that have no place in generated SQL: they quote for shells, indent text that
// may hold literals, or give another result on every run.
var unfit = []string{
	"quote", "squote", "indent", "nindent", "keys", "values", "shuffle", "randInt", "ago", "bcrypt", "htpasswd",
	"genCA", "genCAWithKey", "genPrivateKey", "genSelfSignedCert", "genSelfSignedCertWithKey", "genSignedCert", "genSignedCertWithKey",
	"derivePassword", "encryptAES", "decryptAES",
}

// funcs returns what templates may call: sprig's hermetic map without the unfit, and quoting for SQL.
func funcs() template.FuncMap {
	all := sprig.HermeticTxtFuncMap()
	for _, name := range unfit {
		delete(all, name)
	}
	all["ident"] = sqltext.Ident
	all["lit"] = sqltext.Literal
	all["null"] = literalOrNull
	all["texts"] = texts
	all["regclass"] = Name.Regclass
	all["indented"] = Indented
	all["indentedEnd"] = indentedEnd
	all["deeper"] = sqltext.Deeper
	all["arrival"] = func() Order { return Arrival }
	all["inc"] = func(n int) int { return n + 1 }
	all["dec"] = func(n int) int { return n - 1 }
	all["jinjaText"] = jinjaText
	all["jinjaLit"] = jinjaLit
	all["yamlText"] = yamlText
	return all
}
