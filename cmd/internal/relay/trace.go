package relay

import (
	"context"
	"errors"
	"os"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

const traceHeader = "traceparent"

// tracer makes a span for each event that belongs to a trace, and has the event go on under that span. The nil one makes none: then events keep their trace.
type tracer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// newTracer exports spans by OTLP over HTTP where OTEL_EXPORTER_OTLP_ENDPOINT, or the like for traces, says whereto.
func newTracer(ctx context.Context) (*tracer, error) {
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
		return nil, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, err
	}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "sluice-relay")), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, err
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	return &tracer{provider, provider.Tracer("github.com/pgsluice/sluice")}, nil
}

// close exports what is left.
func (t *tracer) close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// begin starts the spans of events, nil for those without a trace.
func (t *tracer) begin(c *config.Pipeline, events []*wire.Event) []trace.Span {
	if t == nil {
		return nil
	}
	w3c := propagation.TraceContext{}
	spans := make([]trace.Span, len(events))
	for i, e := range events {
		parent := w3c.Extract(context.Background(), propagation.MapCarrier{traceHeader: e.Trace})
		if !trace.SpanContextFromContext(parent).IsValid() {
			continue
		}
		ctx, span := t.tracer.Start(parent, "relay "+c.Name, trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(
			attribute.String("messaging.system", config.Kind(c.To)), attribute.String("messaging.operation.type", "send"),
			attribute.String("messaging.message.id", e.Unique()), attribute.String("sluice.event.type", e.Type)))
		carrier := propagation.MapCarrier{}
		w3c.Inject(ctx, carrier)
		e.Trace, spans[i] = carrier[traceHeader], span
	}
	return spans
}

// end ends spans with the outcomes of their events.
func (t *tracer) end(spans []trace.Span, outcomes []error) {
	for i, span := range spans {
		if span == nil {
			continue
		}
		if err := outcomes[i]; err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}
