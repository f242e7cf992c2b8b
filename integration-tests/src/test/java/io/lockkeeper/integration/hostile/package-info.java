/** What others may have put into ZooKeeper under our root, or taken out of our hands. */
package io.lockkeeper.integration.hostile;
