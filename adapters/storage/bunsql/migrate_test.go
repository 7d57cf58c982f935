package bunsql_test

import (
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
)

// TestMigrations: numbers follow each other, and a released step's text, which
// a database remembers by its checksum, has not changed.
func TestMigrations(t *testing.T) {
	released := []string{
		"8440bb77f4bf2c553e5d21b4056eeedff1dcd9a5d23f6c337b828ce305504600",
		"652f00acc2385c33a44472411b9079e4c4112577d74c28e182ca5c47f6aef494",
		"e6355f8cd85191949e34edf515e1746424594fd6bdbb9bbd9706a12d192134c0",
		"194bbcd3bb83b8697cbc69f354da25c94363b4fee688391a463d8ca54307ecfd",
		"055b2c12f942a2f88f6452d4c78f36e337442233353d9e5d1d1f8240dd5231bf",
		"6509af736cbbd3bf6c8aa7cba77c877cf8be1f2b7f2c2de3e42517a2992b55e9",
		"71c3baa571bbcb864d9cc79bbbd7f238897491fd90b289530f3832e531353fe6",
		"a6cd420dea6b713561b491fd8529ebf157cb973f7e780949ade34c9c773026fd",
		"50468019cb262f83edd07228258b4a9efd18a2b954faaca2de041a0cabf2e860",
		"d535ee32335898f8561ab6fe307ac0db367f3e45c0b0d87a166b6461e87cd087",
		"798298f781ece951eb9cfb02fbb1455808e939648897faae4f914e147e8a01dd",
		"a7cefeb4c2b0e93b52051841ca65855ee55e6a7a6f5e4159d9827ca671ecf8e4",
		"4c7469da8e82d78f2badae4717bab38b82d92b49a599776c0a153ac48cf301b8",
		"62e90deca2ef47695c09b8d261d861dead93a87d7791892aad3b7216a403b886",
		"65e76a0d8413dbd744896ee46899ea718b7511568280be670fe3ec585ae7b966",
		"6521e9e5bea35773738712ac94ac8435b8c36afc2881ab3f4fb2b54faa4cfb29",
		"416dee02ebbcb86c16e2028eab3cf0abf57497e11f01cec9f39d42e21b7f173b",
		"ddf5992a421565ca4f09daf0a6dcb93a7d2432347e3b621f11a36f14602999ef",
		"a0f43e9fed0f706dbbac88fdf9dc43488c83f1f865d7dd4f145e94ee92bcbb5a",
		"d3640aafa3c8a0456644e10c54ca381b3061752854d4f40166fb69463d1dcaed",
		"74b5d403a3460cd64830c281fc8ee95aa440602f66ad161d79267b9260fe7eec",
		"c17dbc00b0a215d862a5865e8d9002960e6387bca72901d4c701ddbcfc6db664",
		"62f3126b671bfd9d3a1de094c6887e36fd2ce5b9d3743345c1fa3b1c4297739b",
		"d4346e3741c1f243cca4613e438531ad24ce51f861ee4f5db2fafffa25f582d4",
		"3cb0ea6f77b358848a9da8d04cfe470450bf95dacad94e55fecdf9700a6fad27",
	}
	all, err := bunsql.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range all {
		if m.Version != i+1 || m.SQL == "" || m.Name == "" {
			t.Errorf("step %d: %+v", i+1, m)
		}
		if i >= len(released) || released[i] != m.Checksum {
			t.Errorf("step %d has checksum %s: a released step never changes, add another; a new one goes into this list",
				m.Version, m.Checksum)
		}
		if strings.Contains(m.SQL, "\r") {
			t.Errorf("step %d has carriage returns, which change its checksum", m.Version)
		}
	}
}
