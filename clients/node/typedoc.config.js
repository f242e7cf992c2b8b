import { OptionDefaults } from 'typedoc';

export default {
  entryPoints: ['src/index.ts', 'src/testing.ts'],
  out: '../../target/docs/node',
  blockTags: [...OptionDefaults.blockTags, '@generated'], // in the stubs
  disableSources: true,
  excludeExternals: true,
  excludeInternal: true,
  excludePrivate: true,
  logLevel: 'Warn',
  treatWarningsAsErrors: true,
};
