#!/bin/sh
# Builds model.wasm. Needs Rust (https://rustup.rs) with its WebAssembly target:
# rustup target add wasm32-unknown-unknown
set -eu
cd "$(dirname "$0")"
cargo build --release --target wasm32-unknown-unknown
cp target/wasm32-unknown-unknown/release/model.wasm model.wasm
