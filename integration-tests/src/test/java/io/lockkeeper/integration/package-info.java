/** Tests against real servers in front of real ZooKeepers, with real faults. */
package io.lockkeeper.integration;
