package relay

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// listen serves metrics and health at the address of the configuration, until stop is called.
func (r *Relay) listen() (stop func(), err error) {
	if r.Config.Listen == "" {
		return func() {}, nil
	}
	in, err := net.Listen("tcp", r.Config.Listen)
	if err != nil {
		return nil, err
	}
	paths := http.NewServeMux()
	paths.Handle("GET /metrics", promhttp.HandlerFor(r.meter.registry, promhttp.HandlerOpts{}))
	paths.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	paths.HandleFunc("GET /readyz", r.ready)
	server := &http.Server{Handler: paths, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := server.Serve(in); !errors.Is(err, http.ErrServerClosed) {
			r.Log.Error("metrics", "error", err)
		}
	}()
	r.Log.Info("serves /metrics, /healthz and /readyz", "address", in.Addr().String())
	return func() { _ = server.Close() }, nil
}

// ready is 200 if all pipelines reach both ends, else 503 with their problems.
func (r *Relay) ready(w http.ResponseWriter, _ *http.Request) {
	problems := r.meter.problems()
	w.Header().Set("Content-Type", "application/json")
	if len(problems) > 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"ready": len(problems) == 0, "problems": problems})
}
