/* In: the tables of ir/op.def. Out: a JSON Schema (draft 7) of the spec language, with every op's keys and their help. What a schema cannot
 * say (shapes, names, use) is left to graph_read(). */
#include "ir/read/schema.h"
#include "ir/graph/attribute_table.h"
#include "ir/graph/scaling.h"
#include <string.h>

static void put_string(text *t, const char *s)
{
    text_append(t, "\"", 1);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') text_append(t, "\\", 1);
        text_append(t, s, 1);
    }
    text_append(t, "\"", 1);
}

/* The schema up to the ops. */
static const char head[] =
    "{\n"
    "  \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n"
    "  \"title\": \"tfgen spec\",\n"
    "  \"description\": \"The op graph of a transformer block: what is computed, never how it is fused.\",\n"
    "  \"type\": \"object\",\n"
    "  \"additionalProperties\": false,\n"
    "  \"required\": [\"block\", \"dtype\", \"inputs\", \"ops\", \"outputs\"],\n"
    "  \"properties\": {\n"
    "    \"block\": {\"type\": \"string\", \"pattern\": \"^[A-Za-z][A-Za-z0-9_-]{0,62}$\", \"description\": \"name of "
    "the block\"},\n"
    "    \"dtype\": {\"allOf\": [{\"$ref\": \"#/definitions/dtype\"}], \"description\": \"how values are stored; products and "
    "reductions accumulate in fp32\"},\n"
    "    \"dims\": {\"$ref\": \"#/definitions/sizes\", \"description\": \"name: integer, or an expression of earlier "
    "dims\"},\n"
    "    \"dynamic\": {\n"
    "      \"description\": \"dims that may change from launch to launch: [least, greatest]\",\n"
    "      \"type\": \"object\", \"propertyNames\": {\"$ref\": \"#/definitions/name\"}, \"maxProperties\": 4,\n"
    "      \"additionalProperties\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/definitions/size\"}, "
    "\"minItems\": 2, \"maxItems\": 2}\n"
    "    },\n"
    "    \"presets\": {\n"
    "      \"description\": \"named sets of values for dims, chosen by --preset\",\n"
    "      \"type\": \"object\",\n"
    "      \"additionalProperties\": {\"type\": \"object\", \"additionalProperties\": {\"type\": \"integer\", "
    "\"minimum\": 1}}\n"
    "    },\n"
    "    \"inputs\": {\"$ref\": \"#/definitions/inputs\"},\n"
    "    \"params\": {\"$ref\": \"#/definitions/params\"},\n"
    "    \"prefix\": {\"type\": \"string\", \"description\": \"what comes before the names in from: in a model's file, "
    "{layer} for the number of the layer\"},\n"
    "    \"state\": {\"$ref\": \"#/definitions/state\"},\n"
    "    \"ops\": {\"type\": \"array\", \"minItems\": 1, \"maxItems\": 4096, \"items\": {\"$ref\": "
    "\"#/definitions/op\"}},\n"
    "    \"outputs\": {\n"
    "      \"description\": \"name for the caller: value, or {value, stride}\",\n"
    "      \"type\": \"object\", \"minProperties\": 1, \"propertyNames\": {\"$ref\": \"#/definitions/name\"},\n"
    "      \"additionalProperties\": {\"anyOf\": [{\"$ref\": \"#/definitions/name\"}, {\"type\": \"object\", \"required\": "
    "[\"value\"],\n"
    "        \"additionalProperties\": false, \"properties\": {\"value\": {\"$ref\": \"#/definitions/name\"},\n"
    "        \"stride\": {\"description\": \"elements from one row to the next\", \"$ref\": \"#/definitions/size\"}}}]}\n"
    "    }\n"
    "  },\n"
    "  \"definitions\": {\n"
    "    \"name\": {\"type\": \"string\", \"pattern\": \"^[A-Za-z_][A-Za-z0-9_]{0,62}$\"},\n"
    "    \"size\": {\"anyOf\": [{\"type\": \"integer\", \"minimum\": 0}, {\"type\": \"string\", \"pattern\": "
    "\"^[A-Za-z0-9_ ()+*/-]+$\"}]},\n"
    "    \"sizes\": {\n"
    "      \"type\": \"object\", \"propertyNames\": {\"$ref\": \"#/definitions/name\"}, \"maxProperties\": 32,\n"
    "      \"additionalProperties\": {\"$ref\": \"#/definitions/size\"}\n"
    "    },\n"
    "    \"shape\": {\"type\": \"array\", \"minItems\": 1, \"maxItems\": 6, \"items\": {\"$ref\": "
    "\"#/definitions/size\"}},\n";

typedef struct section {
    const char *name, *help, *type, *more;
} section;

static const section sections[] = {
    {"inputs", "data of each call: a shape, or {shape, dtype, range, stride}",
     "{\"$ref\": \"#/definitions/input_dtype\"}",
     ",\n          \"range\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/definitions/size\"}, \"minItems\": 2, "
     "\"maxItems\": 2, "
     "\"description\": \"least and greatest value of i32 data\"},\n          "
     "\"stride\": {\"description\": \"elements from one row to the next\", \"$ref\": \"#/definitions/size\"}"},
    {"params", "weights: a shape, or {shape, dtype, from, transpose}", "{\"$ref\": \"#/definitions/dtype\"}",
     ",\n          \"from\": {\"description\": \"name of the tensor in a safetensors file, or rows of one: {tensor, rows, every}\",\n"
     "            \"anyOf\": [{\"type\": \"string\"}, {\"type\": \"object\", \"required\": [\"tensor\", \"rows\"], "
     "\"additionalProperties\": false,\n            \"properties\": {\"tensor\": {\"type\": \"string\"}, \"rows\": {\"type\": "
     "\"array\", \"items\": {\"$ref\": \"#/definitions/size\"}, \"minItems\": 2, \"maxItems\": 2},\n            "
     "\"every\": {\"$ref\": \"#/definitions/size\"}}}]}"
     ",\n          \"transpose\": {\"type\": \"boolean\", \"description\": \"the tensor is stored with its two axes "
     "swapped\"}"},
    {"state", "what lasts from call to call and is updated in place: a shape, or {shape, dtype}",
     "{\"$ref\": \"#/definitions/dtype\"}", ""},
};

static void put_section(text *t, const section *s)
{
    text_printf(t, "    \"%s\": {\n      \"description\": ", s->name);
    put_string(t, s->help);
    text_printf(
        t,
        ",\n      \"type\": \"object\", \"propertyNames\": {\"$ref\": \"#/definitions/name\"},\n"
        "      \"additionalProperties\": {\"anyOf\": [\n        {\"$ref\": \"#/definitions/shape\"},\n"
        "        {\"type\": \"object\", \"required\": [\"shape\"], \"additionalProperties\": false, \"properties\": {\n"
        "          \"shape\": {\"$ref\": \"#/definitions/shape\"},\n          \"dtype\": %s%s\n        }}\n      ]}\n  "
        "  },\n",
        s->type, s->more);
}

/* One alternative (oneOf) for each type of rope scaling, with the numbers that the type takes. */
static const char *scaling_schema(arena *a)
{
    text t = {.a = a};
    text_printf(&t, "\"type\": \"object\", \"oneOf\": [");
    for (int k = 1; k < scaling_count; k++) {
        text required = {.a = a};
        text_printf(&t, "%s{\"additionalProperties\": false, \"properties\": {\"type\": {\"const\": \"%s\"}", k > 1 ? ", " : "",
                    scaling_names[k]);
        for (int i = 0; i < scaling_number_count; i++) {
            const scaling_number *n = &scaling_numbers[i];
            if (n->kind != (rope_scaling_kind)k) continue;
            text_printf(&t, ", \"%s\": {\"type\": \"%s\"}", n->key, n->is_flag ? "boolean" : "number");
            if (n->otherwise == 0 && !n->is_flag) text_printf(&required, ", \"%s\"", n->key);
        }
        if (k == scaling_longrope)
            text_printf(&t, ", \"factors\": {\"type\": \"array\", \"minItems\": 1, \"items\": {\"type\": \"number\"}}");
        if (k == scaling_longrope) text_printf(&required, ", \"factors\"");
        text_printf(&t, "}, \"required\": [\"type\"%s]}", required.size ? required.data : "");
    }
    text_printf(&t, "]");
    return t.data;
}

static const char *attribute_schema(arena *a, attribute_type type)
{
    switch (type) {
    case attribute_INT: return "\"$ref\": \"#/definitions/size\"";
    case attribute_FLOAT: return "\"type\": \"number\"";
    case attribute_BOOL: return "\"type\": \"boolean\"";
    case attribute_DTYPE: return "\"$ref\": \"#/definitions/dtype\"";
    case attribute_PAIRING: return "\"enum\": [\"half\", \"interleaved\"]";
    case attribute_LAYOUT: return "\"enum\": [\"out_in\", \"in_out\"]";
    case attribute_VALUE: return "\"$ref\": \"#/definitions/name\"";
    case attribute_SIZES: return "\"type\": \"array\", \"minItems\": 1, \"items\": {\"$ref\": \"#/definitions/size\"}";
    case attribute_SHAPE: return "\"$ref\": \"#/definitions/shape\"";
    case attribute_NUMBERS: return "\"type\": \"array\", \"minItems\": 1, \"items\": {\"type\": \"number\"}";
    case attribute_AXIS: return "\"type\": \"integer\"";
    case attribute_AXES: return "\"type\": \"array\", \"minItems\": 1, \"items\": {\"type\": \"integer\"}";
    case attribute_SCALING: return scaling_schema(a);
    }
    return "";
}

/* Draft 7 ignores all keys beside a $ref, so the $ref is wrapped in allOf, which keeps the description. */
static void put_attribute(text *t, const attribute_info *info)
{
    const char *schema = attribute_schema(t->a, info->type);
    bool reference = strncmp(schema, "\"$ref\"", 6) == 0;
    text_printf(t, ",\n        \"%s\": {%s%s%s, \"description\": ", info->key, reference ? "\"allOf\": [{" : "", schema,
                reference ? "}]" : "");
    put_string(t, info->help);
    text_printf(t, "}");
}

static void put_op(text *t, op_kind kind)
{
    const op_info *op = &op_table[kind];
    text_printf(
        t, "      {\"if\": {\"properties\": {\"op\": {\"const\": \"%s\"}}}, \"then\": {\n        \"description\": ",
        op->name);
    put_string(t, op->help);
    text_printf(t, ", \"additionalProperties\": false, \"required\": [\"out\", \"op\", \"in\"");
    for (int i = 0; i < attribute_count; i++)
        if (attribute_table[i].op == kind && attribute_table[i].required)
            text_printf(t, ", \"%s\"", attribute_table[i].key);
    text_printf(t, "],\n        \"properties\": {\"out\": {}, \"op\": {}, \"in\": {\"%s\": [",
                op->least_inputs == 1 ? "anyOf" : "allOf");
    if (op->least_inputs == 1) text_printf(t, "{\"type\": \"string\"}, ");
    text_printf(t, "{\"type\": \"array\", \"minItems\": %d, \"maxItems\": %d}]}", op->least_inputs, op->most_inputs);
    for (int i = 0; i < attribute_count; i++)
        if (attribute_table[i].op == kind) put_attribute(t, &attribute_table[i]);
    text_printf(t, "}\n      }}");
}

static void put_ops(text *t)
{
    text_printf(
        t,
        "    \"operand\": {\"anyOf\": [{\"$ref\": \"#/definitions/name\"}, {\"type\": \"number\"}]},\n"
        "    \"op\": {\n      \"type\": \"object\", \"required\": [\"out\", \"op\", \"in\"],\n      \"properties\": {\n"
        "        \"out\": {\"description\": \"name of the result; split makes several\", \"anyOf\": [{\"$ref\": "
        "\"#/definitions/name\"}, {\"type\": \"array\", \"items\": {\"$ref\": \"#/definitions/name\"}}]},\n"
        "        \"in\": {\"description\": \"inputs: names, or numbers for arithmetic\", \"anyOf\": [{\"$ref\": "
        "\"#/definitions/operand\"}, {\"type\": \"array\", \"items\": {\"$ref\": \"#/definitions/operand\"}}]},\n"
        "        \"op\": {\"enum\": [");
    for (int k = 0; k < op_count; k++)
        if (op_in_spec((op_kind)k)) text_printf(t, "%s\"%s\"", k ? ", " : "", op_table[k].name);
    text_printf(t, "]}\n      },\n      \"allOf\": [\n");
    for (int k = 0, first = 1; k < op_count; k++) {
        if (!op_in_spec((op_kind)k)) continue;
        if (!first) text_printf(t, ",\n");
        put_op(t, (op_kind)k);
        first = 0;
    }
    text_printf(t, "\n      ]\n    }\n  }\n}\n");
}

static void put_dtypes(text *t)
{
    static const char between[] = "\", \"";
    text_printf(t, "    \"dtype\": {\"enum\": [\"%s\"]},\n", dtype_names(t->a, true, between, between));
    text_printf(t, "    \"input_dtype\": {\"enum\": [\"%s\"]},\n", dtype_names(t->a, false, between, between));
}

char *schema_json(arena *a)
{
    text t = {.a = a};
    text_append(&t, head, strlen(head));
    put_dtypes(&t);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) put_section(&t, &sections[i]);
    put_ops(&t);
    return t.data;
}
