package com.example.client;

import com.alibaba.nacos.api.exception.NacosException;
import com.alibaba.nacos.api.naming.NamingService;
import com.alibaba.nacos.api.naming.pojo.Instance;
import java.util.Comparator;
import java.util.List;

/** The servers of a service, as the registry pushes them to this process. */
public class ServerList {

    private final NamingService registry;

    public ServerList(NamingService registry) {
        this.registry = registry;
    }

    /** All servers, by address: the same list for every caller, whatever its zone and whoever seems to be ill. */
    public List<Instance> of(String service) throws NacosException {
        return registry.getAllInstances(service).stream()
                .sorted(Comparator.comparing(Instance::toInetAddr))
                .toList();
    }
}
