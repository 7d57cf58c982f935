//! A small model in Rust: it finds texts that share words, parts of words, or
//! concepts (concepts.txt). It embeds, makes sparse vectors and reranks; keep what
//! you need. Everything but the last line is yours to replace.
use mneme_model::{asset, Dense, Error, Model, Scores, Sparse};
use std::collections::{BTreeMap, HashMap};

const DIM: usize = 256; // of a vector
const VOCAB: u32 = 65536; // sparse terms
const WINDOW: usize = 512; // words read of a text
const LONGEST: usize = 64; // bytes read of a word
const PASSED_OVER: u16 = 0xFFFF;

struct Acme {
    concepts: HashMap<Vec<u8>, u16>, // the line of the asset that has a word
}

fn letter(c: u8) -> bool {
    c >= 0x80 || c.is_ascii_alphanumeric()
}

/// The words of a text, runs of ASCII letters and digits and of anything beyond
/// ASCII, in lower case and without the s of a plural.
fn words(text: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    text.split(|&c| !letter(c)).filter(|w| !w.is_empty()).map(|w| {
        let mut w = w[..w.len().min(LONGEST)].to_ascii_lowercase();
        if w.len() > 3 && w.ends_with(b"s") && !w.ends_with(b"ss") {
            w.pop();
        }
        w
    })
}

/// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/
fn hash(kind: u8, bytes: &[u8]) -> u32 {
    bytes.iter().fold((2166136261 ^ kind as u32).wrapping_mul(16777619), |h, &b| (h ^ b as u32).wrapping_mul(16777619))
}

/// What texts may have in common. Weights are multiples of a quarter, so that sums
/// do not depend on their order.
struct Read {
    features: Vec<(u32, f32)>,
    tokens: usize,
    cut: bool,
}

impl Acme {
    /// The features of at most limit words of a text.
    fn read(&self, text: &str, limit: usize, parts: bool) -> Read {
        let mut all: Vec<Vec<u8>> = words(text.as_bytes()).take(limit + 1).collect();
        let cut = all.len() > limit;
        all.truncate(limit);
        let told = all.iter().any(|w| self.concepts.get(w) != Some(&PASSED_OVER));
        let mut features = Vec::new();
        for w in &all {
            let h = hash(b'w', w);
            match self.concepts.get(w) {
                Some(&PASSED_OVER) => {
                    if !told {
                        features.push((h, 1.0)); // a text of nothing else
                    }
                    continue;
                }
                concept => {
                    features.push((h, 1.0));
                    if let Some(c) = concept {
                        features.push((hash(b'c', &c.to_le_bytes()), 0.75));
                    }
                }
            }
            if parts {
                let edged = [b"#", &w[..], b"#"].concat();
                features.extend(edged.windows(3).map(|p| (hash(b't', p), 0.25)));
            }
        }
        Read { features, tokens: all.len(), cut }
    }
}

/// Features by number, equal ones summed up.
fn collect(features: &[(u32, f32)]) -> BTreeMap<u32, f32> {
    let mut terms = BTreeMap::new();
    for &(h, weight) in features {
        *terms.entry((h ^ h >> 16) % VOCAB).or_insert(0.0) += weight;
    }
    terms
}

impl Model for Acme {
    fn describe() -> &'static str {
        r#"{"name":"acme","version":"1.0.0","licence":"Apache-2.0","tasks":[
            {"task":"embedding","dim":256,"max_tokens":512,"normalized":true},
            {"task":"sparse","vocab":65536,"max_tokens":512},
            {"task":"rerank","max_tokens":512}]}"#
    }

    fn open(_config: &str) -> Result<Self, String> {
        let lines = asset("concepts.txt").ok_or("the asset concepts.txt is missing")?;
        let mut concepts = HashMap::new();
        let mut concept: u16 = 0;
        for line in lines.split(|&c| c == b'\n').filter(|l| !l.is_empty() && l[0] != b'#') {
            concept += 1;
            if concept == PASSED_OVER {
                return Err("the asset concepts.txt has too many lines".into());
            }
            for w in words(line) {
                concepts.entry(w).or_insert(if line[0] == b'-' { PASSED_OVER } else { concept });
            }
        }
        Ok(Acme { concepts })
    }

    /// Each feature adds to or takes from one dimension.
    fn embed(&mut self, texts: &[&str], _query: bool) -> Result<Dense, Error> {
        let mut d = Dense { dim: DIM, values: vec![0.0; texts.len() * DIM], tokens: Vec::new() };
        for (text, v) in texts.iter().zip(d.values.chunks_mut(DIM)) {
            let r = self.read(text, WINDOW, true);
            for (h, weight) in r.features {
                v[h as usize % DIM] += if h >> 31 == 1 { -weight } else { weight };
            }
            let mut square: f32 = v.iter().map(|x| x * x).sum();
            if square == 0.0 {
                (v[0], square) = (1.0, 1.0); // no text is without a direction
            }
            let length = square.sqrt();
            v.iter_mut().for_each(|x| *x /= length);
            d.tokens.push(r.tokens as u32);
        }
        Ok(d)
    }

    fn sparse(&mut self, texts: &[&str], _query: bool) -> Result<Sparse, Error> {
        let mut s = Sparse { rows: Vec::new(), tokens: Vec::new() };
        for text in texts {
            let r = self.read(text, WINDOW, false);
            s.rows.push(collect(&r.features).into_iter().map(|(t, w)| (t, w / (1.0 + w))).collect());
            s.tokens.push(r.tokens as u32);
        }
        Ok(s)
    }

    /// The share of the query's terms that a text has, by weight.
    fn rerank(&mut self, query: &str, texts: &[&str]) -> Result<Scores, Error> {
        let asked = self.read(query, WINDOW / 2, false);
        let terms = collect(&asked.features);
        let all: f32 = terms.values().sum();
        let mut s = Scores { probabilities: Vec::new(), tokens: Vec::new(), cut: Vec::new() };
        for text in texts {
            let r = self.read(text, WINDOW - asked.tokens, false);
            let has = collect(&r.features);
            let both: f32 = terms.iter().filter(|(t, _)| has.contains_key(t)).map(|(_, w)| w).sum();
            s.probabilities.push(if all == 0.0 { 0.02 } else { 0.02 + 0.96 * (both / all) });
            s.tokens.push((asked.tokens + r.tokens) as u32);
            s.cut.push(r.cut);
        }
        Ok(s)
    }

    fn tokens(&mut self, texts: &[&str]) -> Result<Vec<u32>, Error> {
        Ok(texts.iter().map(|t| words(t.as_bytes()).count() as u32).collect())
    }
}

mneme_model::export!(Acme);
