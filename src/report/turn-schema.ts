import * as z from 'zod';
import { kindNames } from '../base/kind-names.js';
import { outcomes } from './outcomes.js';
import { planSchema, problemSchema, resultSchema } from './schemas.js';

const { summary } = planSchema.shape;

/** A line of `watch --format json`. */
export const turnSchema = z
  .strictObject({
    format_version: z.literal(1).describe('The version of this format'),
    turn: z
      .int()
      .min(1)
      .describe('The number of the turn, from 1')
      .meta({ examples: [12] }),
    time: z
      .string()
      .describe('When it began, ISO 8601 in UTC')
      .meta({ examples: ['2026-01-31T12:00:00.000Z'] }),
    outcome: z
      .enum(outcomes)
      .describe(
        'What it came to. drift: something is not as declared, and nothing was to be applied. refused: something is blocked, or more would be destroyed than is allowed.',
      ),
    seconds: z
      .number()
      .min(0)
      .describe('How long it took')
      .meta({ examples: [0.412] }),
    new: z
      .boolean()
      .describe(
        'Whether what differs, what was done or what is wrong is otherwise than it was the last time',
      ),
    summary: summary.nullable().describe('As in a plan; null where none could be made'),
    kinds: z
      .partialRecord(
        z.enum(kindNames),
        z.partialRecord(
          z.enum(['update', 'delete', 'regenerate', 'adopt', 'blocked']),
          z.int().min(1).describe('How many'),
        ),
      )
      .nullable()
      .describe('How many changes the plan has of each kind and action; null where there is no plan'),
    plan: planSchema
      .optional()
      .describe('The plan, where anything in it differs, and otherwise than in the plan before'),
    result: resultSchema.optional().describe('What was applied; left out where nothing was'),
    problems: z.array(problemSchema).describe('What went wrong, and warnings of the manifests'),
    notes: z.array(z.string()).describe('What a person should know beside'),
  })
  .describe('What one turn came to');

export type TurnJson = z.infer<typeof turnSchema>;
