package simd

import (
	"fmt"
	"os"
	"strings"
)

// Level names an instruction set that kernels are written for.
type Level uint8

// The levels.
const (
	Portable Level = iota // Go, any CPU
	AVX2                  // x86-64-v3: AVX2, FMA and F16C
	AVXVNNI               // AVX2 with AVX-VNNI, of processors without AVX-512
	AVX512                // x86-64-v4 and AVX-512 VNNI
	AMX                   // AVX512 with tiles of int8
	NEON                  // ARMv8.2 with dot products
	I8MM                  // ARMv8.6: NEON with int8 matrix multiplication
)

// Env is the environment variable that forces a level in [Best].
const Env = "MNEME_SIMD"

// Levels lists all levels of all CPUs, slower before faster.
func Levels() []Level { return []Level{Portable, AVX2, AVXVNNI, AVX512, AMX, NEON, I8MM} }

func (l Level) String() string {
	switch l {
	case Portable:
		return "portable"
	case AVX2:
		return "avx2"
	case AVXVNNI:
		return "avxvnni"
	case AVX512:
		return "avx512"
	case AMX:
		return "amx"
	case NEON:
		return "neon"
	case I8MM:
		return "i8mm"
	}
	return fmt.Sprintf("Level(%d)", uint8(l))
}

// ParseLevel is the inverse of Level.String.
func ParseLevel(name string) (Level, error) {
	names := make([]string, 0, len(Levels()))
	for _, l := range Levels() {
		if name == l.String() {
			return l, nil
		}
		names = append(names, l.String())
	}
	return 0, fmt.Errorf("simd level %q: want one of %s", name, strings.Join(names, ", "))
}

// Kernels is a set of kernels of one level. The zero value is the portable
// set, so a value is always usable.
type Kernels struct{ level Level }

// Level says which instruction set the kernels use.
func (k Kernels) Level() Level { return k.level }

// Best returns the fastest kernels that this CPU runs, or those that the
// environment variable MNEME_SIMD names. The error says that the variable
// holds no level or one that this machine lacks.
func Best() (Kernels, error) {
	if name := os.Getenv(Env); name != "" {
		level, err := ParseLevel(name)
		if err != nil {
			return Kernels{}, fmt.Errorf("%s: %w", Env, err)
		}
		k, err := At(level)
		if err != nil {
			return Kernels{}, fmt.Errorf("%s: %w", Env, err)
		}
		return k, nil
	}
	best := Portable
	for _, level := range Levels() {
		if available(level) {
			best = level
		}
	}
	return Kernels{level: best}, nil
}

// At returns the kernels of one level, or an error if this machine can't run them.
func At(level Level) (Kernels, error) {
	if !available(level) {
		return Kernels{}, fmt.Errorf("simd level %s: this machine lacks it, its processor or the leave of its system", level)
	}
	return Kernels{level: level}, nil
}

// stretch is how many values one call of assembly works on at most, around a
// tenth of a millisecond's worth: the runtime can't interrupt assembly, and a
// collection would wait for it with everybody else.
const stretch = 1 << 16
