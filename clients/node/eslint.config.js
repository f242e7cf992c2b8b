import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(globalIgnores(['build', 'dist', 'src/gen', 'bench', 'node_modules']), js.configs.recommended, {
  files: ['**/*.ts'],
  extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
  languageOptions: { parserOptions: { project: ['./tsconfig.json', './tsconfig.test.json'] } },
  rules: {
    '@typescript-eslint/no-floating-promises': ['error', { allowForKnownSafeCalls: [{ from: 'package', name: ['describe', 'test'], package: 'node:test' }] }],
    complexity: ['error', 15],
    'max-lines': ['error', { max: 600, skipBlankLines: true, skipComments: true }],
  },
});
