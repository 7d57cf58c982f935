# What `brew install` reads; build.sh fills in the version and the sums.
class Mneme < Formula
  desc "Memory and document retrieval server for AI applications"
  homepage "https://github.com/mnemehq/mneme"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "@RELEASES@/mneme-#{version}-darwin-arm64.tar.gz"
      sha256 "@SUM-darwin-arm64@"
    end
    on_intel do
      url "@RELEASES@/mneme-#{version}-darwin-amd64.tar.gz"
      sha256 "@SUM-darwin-amd64@"
    end
  end
  on_linux do
    on_arm do
      url "@RELEASES@/mneme-#{version}-linux-arm64.tar.gz"
      sha256 "@SUM-linux-arm64@"
    end
    on_intel do
      url "@RELEASES@/mneme-#{version}-linux-amd64.tar.gz"
      sha256 "@SUM-linux-amd64@"
    end
  end

  def install
    bin.install "mneme"
  end

  service do
    run [opt_bin/"mneme", "serve"]
    environment_variables MNEME_DATA: var/"lib/mneme", MNEME_CACHE: var/"cache/mneme"
    keep_alive crashed: true
    log_path var/"log/mneme.log"
    error_log_path var/"log/mneme.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/mneme --version")
    (testpath/"notes/a.md").write "The harbour office closes at five."
    system bin/"mneme", "import", testpath/"notes", "--namespace", "notes", "--data", testpath/"data"
    assert_match "closes at five", shell_output("#{bin}/mneme query notes 'when does it close?' --data #{testpath}/data")
  end
end
