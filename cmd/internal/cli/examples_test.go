package cli

import (
	"testing"

	"github.com/pgsluice/sluice/cmd/internal/process/processtest"
)

func TestExamples(t *testing.T) { processtest.CheckExamples(t, newRoot, fixedValues) }
