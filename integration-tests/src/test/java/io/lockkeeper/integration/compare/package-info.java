/**
 * How fast locks change hands, beside Curator's mutex on the same ZooKeeper. Run by {@code make
 * compare}.
 */
package io.lockkeeper.integration.compare;
