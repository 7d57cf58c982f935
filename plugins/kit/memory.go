package kit

import "slices"

// MinSamples are the samples of memory that Growth needs at least.
const MinSamples = 8

// memorySlack is by how much memory may differ that is called flat: pages and heaps come
// in steps.
func memorySlack(used int64) int64 { return max(1<<20, used*3/100) }

// Growth compares the third and the last quarter of a run's samples of memory.
func Growth(samples []int64) (third, grown int64, flat bool) {
	n := len(samples)
	if n < MinSamples {
		return 0, 0, false
	}
	third = median(samples[n/2 : n*3/4])
	grown = median(samples[n*3/4:]) - third
	return third, grown, third > 0 && grown <= memorySlack(third)
}

func median(of []int64) int64 {
	of = slices.Sorted(slices.Values(of))
	return of[len(of)/2]
}
