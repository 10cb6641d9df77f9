/** The JSON Schemas that `idops schema` prints and that are in schemas/. */
export const schemaNames = ['manifest', 'config', 'plan', 'run'] as const;

export type SchemaName = (typeof schemaNames)[number];
