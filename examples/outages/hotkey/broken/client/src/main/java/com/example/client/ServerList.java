package com.example.client;

import com.alibaba.nacos.api.exception.NacosException;
import com.alibaba.nacos.api.naming.NamingService;
import com.alibaba.nacos.api.naming.pojo.Instance;
import java.util.Comparator;
import java.util.List;

/** The servers of a service, as the registry pushes them to this process. */
public class ServerList {

    private final NamingService registry;
    private final String zone;

    public ServerList(NamingService registry, String zone) {
        this.registry = registry;
        this.zone = zone;
    }

    /** The servers to call, by address: those in our own zone, since a call across zones costs another millisecond. */
    public List<Instance> of(String service) throws NacosException {
        return registry.getAllInstances(service).stream()
                .filter(server -> zone.equals(server.getMetadata().get("zone")))
                .sorted(Comparator.comparing(Instance::toInetAddr))
                .toList();
    }
}
