/** Which changes of a plan are shown: those of the server's own since the last run, or those that the manifests make. */
export const shares = ['drift', 'changes'] as const;

export type Share = (typeof shares)[number];
