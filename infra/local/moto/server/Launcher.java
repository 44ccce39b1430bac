import java.util.List;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ContextHandler;
import software.amazon.dynamodb.services.local.main.ServerRunner;

/**
 * Serves DynamoDB Local on a free port of 127.0.0.1 and says so on standard output; it ends when its standard input does.
 * DynamoDB Local itself listens on every address of the machine, and answers pages that reach it under a foreign name.
 */
class Launcher {
    public static void main(String[] args) throws Exception {
        var said = System.out;
        System.setOut(System.err);
        var proxy = ServerRunner.createServerFromCommandLineArgs(new String[] {"-inMemory", "-sharedDb", "-disableTelemetry"});
        var field = proxy.getClass().getDeclaredField("server");
        field.setAccessible(true);
        var server = (Server) field.get(proxy);
        var connector = (ServerConnector) server.getConnectors()[0];
        connector.setHost("127.0.0.1");
        connector.setPort(0);
        var own = new ContextHandler(server.getHandler(), "/");
        own.setVirtualHosts(List.of("127.0.0.1"));
        server.setHandler(own);
        proxy.start();
        said.println("{\"port\":" + connector.getLocalPort() + "}");
        while (System.in.read() >= 0) {
        }
        Runtime.getRuntime().halt(0);
    }
}
