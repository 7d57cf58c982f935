import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.opensearch.Version;
import org.opensearch.common.settings.Settings;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.plugins.PluginInfo;

/** A node of OpenSearch made of its published jars, of 2.19 or 3. Its arguments are settings, KEY=VALUE; without=NAME leaves a plugin out. */
public class Node extends org.opensearch.node.Node {
  @SuppressWarnings({"unchecked", "rawtypes"}) // plugins are classes in 2, descriptions of them in 3
  Node(Settings settings, List<Object> plugins) {
    super(InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "node"), (java.util.Collection) plugins, false);
  }

  static Object plugin(String name) throws ClassNotFoundException {
    Class<?> c;
    try {
      c = Class.forName("org.opensearch." + name + "ModulePlugin");
    } catch (ClassNotFoundException e) {
      c = Class.forName("org.opensearch." + name + "Plugin");
    }
    if (Version.CURRENT.major < 3) {
      return c;
    }
    return new PluginInfo(c.getSimpleName(), "", "", Version.CURRENT, "21", c.getName(), null, List.of(), false);
  }

  public static void main(String[] args) throws Exception {
    List<String> names = new ArrayList<>(List.of(
        "transport.Netty4", "index.mapper.MapperExtras", "index.reindex.Reindex", "painless.Painless", "knn.plugin.KNN"));
    Settings.Builder settings = Settings.builder()
        .put("network.host", "127.0.0.1").put("http.type", "netty4").put("transport.type", "netty4");
    for (String arg : args) {
      String[] pair = arg.split("=", 2);
      if (pair[0].equals("without")) {
        names.remove(pair[1]);
      } else if (pair[1].contains(",")) {
        settings.putList(pair[0], pair[1].split(","));
      } else {
        settings.put(pair[0], pair[1]);
      }
    }
    List<Object> plugins = new ArrayList<>();
    for (String name : names) {
      plugins.add(plugin(name));
    }
    Node node = new Node(settings.build(), plugins);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      try {
        node.close();
      } catch (Exception e) {
        throw new RuntimeException(e);
      }
    }));
    node.start();
    new CountDownLatch(1).await();
  }
}
