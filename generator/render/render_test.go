package render

import "testing"

// Functions that would make output differ from run to run, or that do not quote for SQL, must not be within reach of templates.
func TestUnfitFunctionsAreGone(t *testing.T) {
	reachable := funcs()
	for _, name := range append(unfit, "now", "date", "env", "expandenv", "uuidv4", "randAlphaNum", "getHostByName") {
		if _, ok := reachable[name]; ok {
			t.Errorf("templates can call %s", name)
		}
	}
}
