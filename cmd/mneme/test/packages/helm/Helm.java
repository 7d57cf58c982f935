import com.marcnuri.helm.LintResult;
import com.marcnuri.helm.TemplateCommand;
import java.nio.file.Path;

/** What the tests call of Helm's command: template NAME CHART [--namespace NAME] [--set KEY=VALUE]..., and lint CHART, strictly. */
public class Helm {
  public static void main(String[] args) {
    try {
      switch (args[0]) {
        case "template" -> System.out.print(template(args));
        case "lint" -> lint(args[1]);
        default -> throw new IllegalArgumentException("there is no command " + args[0]);
      }
    } catch (RuntimeException e) {
      System.err.println("Error: " + e.getMessage());
      System.exit(1);
    }
  }

  static String template(String[] args) {
    TemplateCommand c = new com.marcnuri.helm.Helm(Path.of(args[2])).template().withName(args[1])
        .withKubeVersion("1.37.0"); // a library that is asked no cluster takes the oldest
    for (int i = 3; i < args.length; i += 2) {
      switch (args[i]) {
        case "--namespace" -> c.withNamespace(args[i + 1]);
        case "--set" -> {
          String[] value = args[i + 1].split("=", 2);
          c.set(value[0], value[1]);
        }
        default -> throw new IllegalArgumentException("there is no option " + args[i]);
      }
    }
    return c.call();
  }

  static void lint(String chart) {
    LintResult r = new com.marcnuri.helm.Helm(Path.of(chart)).lint().strict().call();
    r.getMessages().forEach(System.out::println);
    if (r.isFailed()) {
      throw new IllegalStateException("the chart is not as it should be");
    }
  }
}
