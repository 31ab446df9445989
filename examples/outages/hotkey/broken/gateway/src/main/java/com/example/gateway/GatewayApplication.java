package com.example.gateway;

import com.alibaba.nacos.api.NacosFactory;
import com.alibaba.nacos.api.exception.NacosException;
import com.example.client.AccountClient;
import com.example.client.ServerList;
import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

@SpringBootApplication
public class GatewayApplication {

    public static void main(String[] args) {
        SpringApplication.run(GatewayApplication.class, args);
    }

    @Bean
    AccountClient accounts(@Value("${registry}") String registry, @Value("${zone}") String zone) throws NacosException {
        return new AccountClient(new ServerList(NacosFactory.createNamingService(registry), zone), Duration.ofMillis(200));
    }
}
