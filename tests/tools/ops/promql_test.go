package ops

import (
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// checkPromQL parses an expression and holds that it reads what the code serves and nothing else.
func checkPromQL(t *testing.T, served map[string]bool, text string) {
	t.Helper()
	text = strings.ReplaceAll(text, "$__rate_interval", "5m")
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			for _, m := range selector.LabelMatchers {
				if m.Name == labels.MetricName && !served[m.Value] {
					t.Errorf("%s: nothing serves %s", text, m.Value)
				}
			}
		}
		return nil
	})
}
