package io.lockkeeper.server.rpc;

import io.grpc.MethodDescriptor;
import java.io.ByteArrayInputStream;
import java.io.InputStream;

/**
 * Messages of a client without stubs: what it sends is taken as it is, what it gets is not read.
 */
final class RawBytes {

  static final MethodDescriptor.Marshaller<byte[]> MARSHALLER =
      new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(byte[] bytes) {
          return new ByteArrayInputStream(bytes);
        }

        @Override
        public byte[] parse(InputStream stream) {
          return new byte[0];
        }
      };

  private RawBytes() {}
}
