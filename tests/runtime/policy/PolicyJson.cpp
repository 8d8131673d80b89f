// Dtype policies as Keras's JSON objects.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Policy.h"
#include <catch2/catch.hpp>

using namespace halftone;

template <class Function> static std::string outcome(Function function) {
  try {
    const DTypePolicy p = function();
    return p.class_name() + " " + p.name();
  } catch (const Error &error) {
    return error.what();
  }
}
static std::string deserialized(const char *json) {
  return outcome([&] { return dtype_policies::deserialize(Config::parse(json)); });
}

// policies 4.1
TEST_CASE("Policies serialize as in Keras and come back") {
  CHECK(dtype_policies::serialize(DTypePolicy("mixed_float16")).dump() ==
        R"({"module":"keras","class_name":"DTypePolicy","config":{"name":"mixed_float16"},"registered_name":null})");
  CHECK(dtype_policies::serialize(FloatDTypePolicy("float16")).dump() ==
        R"({"module":"keras","class_name":"FloatDTypePolicy","config":{"name":"float16"},"registered_name":null})");
  for (const char *text : {"mixed_float16", "float32", "int8", "float8_e4m3fn", "int", "torch.float16"}) {
    const DTypePolicy policy(text);
    CHECK(dtype_policies::deserialize(dtype_policies::serialize(policy)) == policy);
    CHECK(dtype_policies::get(dtype_policies::serialize(policy)) == policy);
    CHECK(DTypePolicy::from_config(policy.get_config()) == policy);
  }
  CHECK(dtype_policies::get(dtype_policies::serialize(FloatDTypePolicy("float16"))).class_name() == "FloatDTypePolicy");
}

// policies 4.1
TEST_CASE(
    "Module, registered name and config are optional, extra keys are tolerated, a null name is the global policy") {
  const PolicyScope scope("mixed_bfloat16");
  CHECK(deserialized(R"({"class_name":"DTypePolicy","config":{"name":"float16"}})") == "DTypePolicy float16");
  CHECK(deserialized(R"({"class_name":"DTypePolicy","config":{"name":"float16"},"shared_object_id":3})") ==
        "DTypePolicy float16");
  CHECK(deserialized(R"({"class_name":"DTypePolicy","config":{"name":null}})") == "DTypePolicy mixed_bfloat16");
  for (const char *empty :
       {R"({"class_name":"FloatDTypePolicy","config":{}})", R"({"class_name":"FloatDTypePolicy","config":null})",
        R"({"class_name":"FloatDTypePolicy"})"})
    CHECK(deserialized(empty) == "FloatDTypePolicy mixed_bfloat16");
}

// policies 4.1
TEST_CASE("A bad policy object is refused") {
  using Catch::StartsWith;
  CHECK_THAT(deserialized("{}"), StartsWith("ValueError: Unknown `config` as a `dict`, config={}"));
  CHECK_THAT(deserialized(R"({"config":{"name":"float16"}})"), StartsWith("ValueError: Unknown `config` as a `dict`"));
  CHECK_THAT(deserialized(R"({"class_name":3,"config":{}})"), StartsWith("TypeError: The `class_name`"));
  CHECK_THAT(deserialized(R"({"class_name":"DTypePolicy","config":"float16"})"), StartsWith("TypeError: The `config`"));
  for (const char *unknown : {R"({"class_name":"Nope","config":{}})", R"({"class_name":"Nope","config":null})",
                              R"({"class_name":"Nope"})", R"({"module":"keras","class_name":"Nope","config":{}})"})
    CHECK_THAT(deserialized(unknown), StartsWith("TypeError: 'Nope' is not the class of a dtype policy"));
  CHECK_THAT(deserialized(R"({"class_name":"DTypePolicy","config":{"name":"float15"}})"),
             StartsWith("ValueError: Cannot convert 'float15' to a mixed precision DTypePolicy."));
  CHECK_THAT(deserialized(R"({"class_name":"DTypePolicy","config":{"name":3}})"),
             StartsWith("TypeError: 'name' must be a string, such as 'mixed_float16'. Received: name=3"));
  CHECK_THAT(deserialized(R"({"class_name":"DTypePolicy","config":{"name":"float16","mode":1}})"),
             StartsWith("TypeError: DTypePolicy.__init__() got an unexpected keyword argument 'mode'"));
  CHECK_THAT(deserialized(R"({"class_name":"DTypePolicyMap","config":{}})"),
             StartsWith("KeyError: The config of a DTypePolicyMap"));
}
