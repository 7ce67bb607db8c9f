package main

import "sort"

// spread is a sample in three numbers.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	P95    float64 `json:"p95"`
	Size   int     `json:"size"`
}

func spreadOf(sample []float64) *spread {
	if len(sample) == 0 {
		return nil
	}
	sorted := append([]float64(nil), sample...)
	sort.Float64s(sorted)
	n := len(sorted)
	return &spread{
		Median: (sorted[(n-1)/2] + sorted[n/2]) / 2,
		Min:    sorted[0],
		Max:    sorted[n-1],
		P95:    sorted[(n*95+99)/100-1],
		Size:   n,
	}
}

func median(sample []float64) float64 {
	if s := spreadOf(sample); s != nil {
		return s.Median
	}
	return 0
}

// thirds returns the first and the last third of a series, at least one of each.
func thirds(series []float64) (first, last []float64) {
	n := max(1, len(series)/3)
	return series[:n], series[len(series)-n:]
}

// ratios divides the figures of the same round.
func ratios(above, below []float64) (all []float64) {
	for i := range min(len(above), len(below)) {
		all = append(all, above[i]/below[i])
	}
	return all
}
