package inboxes

import (
	"testing"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
