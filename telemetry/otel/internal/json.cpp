#include <weir/telemetry/otel/internal/json.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

namespace weir::telemetry::otel {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr std::string_view hex_digits = "0123456789abcdef";

template <class Number>
void append_number(Number number, std::string& out) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

// JSON's numbers are doubles, which do not hold every 64-bit integer.
template <class Integer>
void append_quoted(Integer number, std::string& out) {
  out += '"';
  append_number(number, out);
  out += '"';
}

void append_double(double number, std::string& out) {
  if (std::isnan(number)) {
    out += "\"NaN\"";
  } else if (std::isinf(number)) {
    out += number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  } else {
    append_number(number, out);
  }
}

void append_hex(std::string_view bytes, std::string& out) {
  out += '"';
  for (const char byte : bytes) {
    out += hex_digits[static_cast<unsigned char>(byte) >> 4];
    out += hex_digits[static_cast<unsigned char>(byte) & 0xF];
  }
  out += '"';
}

void append_text(std::string_view text, std::string& out) {
  out += '"';
  for (const char character : text) {
    if (character == '"' || character == '\\') {
      out += '\\';
      out += character;
    } else if (static_cast<unsigned char>(character) < 0x20) {
      out += "\\u00";
      out += hex_digits[static_cast<unsigned char>(character) >> 4];
      out += hex_digits[static_cast<unsigned char>(character) & 0xF];
    } else {
      out += character;
    }
  }
  out += '"';
}

void append_message(const Message& message, std::string& out);

// Reads a field of a message, or one element of a repeated field.
class FieldReader {
 public:
  FieldReader(const Message& message, const FieldDescriptor* field)
      : message_(message), field_(field), reflection_(*message.GetReflection()) {}

  void append(int index, std::string& out) const {
    switch (field_->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return append_number(is_repeated() ? reflection_.GetRepeatedInt32(message_, field_, index)
                                           : reflection_.GetInt32(message_, field_),
                             out);
      case FieldDescriptor::CPPTYPE_UINT32:
        return append_number(is_repeated() ? reflection_.GetRepeatedUInt32(message_, field_, index)
                                           : reflection_.GetUInt32(message_, field_),
                             out);
      case FieldDescriptor::CPPTYPE_INT64:
        return append_quoted(is_repeated() ? reflection_.GetRepeatedInt64(message_, field_, index)
                                           : reflection_.GetInt64(message_, field_),
                             out);
      case FieldDescriptor::CPPTYPE_UINT64:
        return append_quoted(is_repeated() ? reflection_.GetRepeatedUInt64(message_, field_, index)
                                           : reflection_.GetUInt64(message_, field_),
                             out);
      default: return append_other(index, out);
    }
  }

 private:
  bool is_repeated() const { return field_->is_repeated(); }

  void append_other(int index, std::string& out) const {
    switch (field_->cpp_type()) {
      case FieldDescriptor::CPPTYPE_ENUM:
        return append_number(is_repeated()
                                 ? reflection_.GetRepeatedEnumValue(message_, field_, index)
                                 : reflection_.GetEnumValue(message_, field_),
                             out);
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return append_double(is_repeated() ? reflection_.GetRepeatedDouble(message_, field_, index)
                                           : reflection_.GetDouble(message_, field_),
                             out);
      case FieldDescriptor::CPPTYPE_BOOL:
        out += reflection_.GetBool(message_, field_) ? "true" : "false";
        return;
      case FieldDescriptor::CPPTYPE_STRING: return append_string(index, out);
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return append_message(is_repeated()
                                  ? reflection_.GetRepeatedMessage(message_, field_, index)
                                  : reflection_.GetMessage(message_, field_),
                              out);
      default: out += "null"; return;
    }
  }

  // The only bytes that Weir sends are ids.
  void append_string(int index, std::string& out) const {
    const std::string text = is_repeated() ? reflection_.GetRepeatedString(message_, field_, index)
                                           : reflection_.GetString(message_, field_);
    if (field_->type() == FieldDescriptor::TYPE_BYTES) return append_hex(text, out);
    append_text(text, out);
  }

  const Message& message_;
  const FieldDescriptor* field_;
  const google::protobuf::Reflection& reflection_;
};

void append_field(const Message& message, const FieldDescriptor* field, std::string& out) {
  const FieldReader reader(message, field);
  append_text(field->json_name(), out);
  out += ':';
  if (!field->is_repeated()) return reader.append(0, out);
  out += '[';
  const int size = message.GetReflection()->FieldSize(message, field);
  for (int i = 0; i < size; ++i) {
    if (i > 0) out += ',';
    reader.append(i, out);
  }
  out += ']';
}

void append_message(const Message& message, std::string& out) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  out += '{';
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) out += ',';
    append_field(message, fields[i], out);
  }
  out += '}';
}

}  // namespace

std::string to_json(const Message& message) {
  std::string out;
  append_message(message, out);
  return out;
}

}  // namespace weir::telemetry::otel
